// SPDX-License-Identifier: MIT
/*
 * clients.c - asks RM for its clients and their TSGs
 *
 * RM does not list a client's objects. But a caller through the client's own open file may ask
 * whether a handle exists, and for its class and parent (0xd02). Client numbers count up from
 * 0xc1d00000; libcuda numbers its objects from 0x5c000000, RM itself from 0xcaf00000.
 */
#include "taps/clients.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "rm/abi.h"
#include "rm/decode.h"
#include "rm/rm.h"
#include "taps/adopt.h"

#define CMD_CONTEXT_ID 0xa06f0113u
#define CMD_CLASS_ENGINE 0x906f0101u

#define CLIENT_BASE 0xc1d00000u
#define CLIENT_MASK 0xfffffu
#define FAR_BACK 65536u /* how many of the newest client numbers are tried */

/* ---- which clients may exist ----------------------------------------------------------------- */

static bool client_exists(const struct gs_clients *a, uint32_t client)
{
	return gs_rm_client_exists(a->own, a->own_client, client) == 1;
}

/*
 * Counts down from the client number that RM has just given us, so that the newest clients come
 * first.
 */
static int list_clients(struct gs_clients *a)
{
	uint32_t now = a->own_client & CLIENT_MASK;
	uint32_t first = now > FAR_BACK ? now - FAR_BACK : 0;

	a->asks = client_exists(a, a->own_client);
	a->all = calloc(now - first + 1, sizeof(*a->all));
	if (!a->all)
		return -ENOMEM;
	for (uint32_t n = now; n-- > first;)
		if (!a->asks || client_exists(a, CLIENT_BASE | n))
			a->all[a->n++] = CLIENT_BASE | n;
	return 0;
}

int gs_clients_list(struct gs_clients *ret, struct gs_error *err)
{
	uint32_t status = 0;
	int r;

	ret->own = gs_rm_driver_open_control();
	if (ret->own < 0)
		return gs_fail(err, -ENODEV, "cannot open %s: %s", NV_CTL_PATH,
			       strerror(-ret->own));
	r = gs_rm_call_alloc(ret->own, 0, 0, &ret->own_client, NV_CLASS_ROOT, NULL, 0, &status);
	if (r < 0 || status)
		return gs_fail(err, r < 0 ? r : -EREMOTEIO, "RM gives us no client (status 0x%x)",
			       status);
	return list_clients(ret);
}

void gs_clients_free(struct gs_clients *c)
{
	uint32_t status;

	if (c->own >= 0) {
		if (c->own_client)
			gs_rm_call_free(c->own, c->own_client, c->own_client, c->own_client,
					&status);
		close(c->own);
	}
	free(c->all);
}

/* ---- what a client has ----------------------------------------------------------------------- */

static void objects_free(struct gs_objects *s)
{
	free(s->all);
}

static int rm_query(void *user, uint32_t client, uint32_t object, uint32_t index, uint32_t *ret)
{
	struct {
		uint32_t object, index;
		uint64_t data;
	} p = { object, index, 0 };
	uint32_t status = GS_NV_INVALID_CLIENT;

	if (gs_rm_call_control(*(int *)user, client, client, GS_CMD_HANDLE_INFO, &p, sizeof(p),
			       &status) ||
	    status)
		return -ENOENT;
	*ret = (uint32_t)p.data;
	return 0;
}

static int rm_child(void *user, uint32_t client, uint32_t parent, uint32_t class_, uint32_t *ret)
{
	uint32_t p[3] = { parent, class_, 0 }, status = GS_NV_INVALID_CLIENT;

	if (gs_rm_call_control(*(int *)user, client, client, GS_CMD_CHILD_HANDLE, p, sizeof(p),
			       &status) ||
	    status || !p[2])
		return -ENOENT;
	*ret = p[2];
	return 0;
}

/* ---- one TSG --------------------------------------------------------------------------------- */

/*
 * Finds the GPU of a subdevice by its UUID. If the UUID matches no GPU and there is only one, uses
 * that.
 */
static const struct gs_gpu *gpu_of(const struct gs_clients *a, int fd, uint32_t client,
				   uint32_t subdevice)
{
	struct nv_gpu_gid gid = {};
	uint32_t status = 0;

	if (subdevice &&
	    !gs_rm_call_control(fd, client, subdevice, NV_CMD_GPU_GID, &gid, sizeof(gid),
				&status) &&
	    !status)
		for (size_t i = 0; i < a->ngpus; i++)
			if (!strncmp(a->gpus[i].uuid, gid.data, sizeof(a->gpus[i].uuid) - 1))
				return &a->gpus[i];
	return a->ngpus == 1 ? &a->gpus[0] : NULL;
}

/*
 * Fills in the settings that cannot be read, with defaults: the driver's interleave level for a new
 * TSG, and the preemption mode that CUDA sets.
 */
static void assume(struct gpusched_task *t, uint64_t us)
{
	t->asked = (struct gpusched_settings){
		.valid = GPUSCHED_TIMESLICE | GPUSCHED_INTERLEAVE | GPUSCHED_RUNNABLE,
		.timeslice_us = gs_timeslice_us(us),
		.interleave = GPUSCHED_INTERLEAVE_MEDIUM,
		.runnable = 1,
	};
	t->assumed = GPUSCHED_INTERLEAVE;
	if (t->kind == GPUSCHED_KIND_COMPUTE) {
		t->asked.valid |= GPUSCHED_PREEMPT_MODE;
		t->asked.preempt_mode = GPUSCHED_PREEMPT_CILP;
		t->assumed |= GPUSCHED_PREEMPT_MODE;
	}
	t->is = t->asked;
}

static void read_cids(int fd, uint32_t client, struct gpusched_channels *ch)
{
	for (uint32_t i = 0; i < ch->n; i++) {
		uint32_t cid = 0, status = 0;

		if (!gs_rm_call_control(fd, client, ch->ch[i].handle, CMD_CONTEXT_ID, &cid,
					sizeof(cid), &status) &&
		    !status)
			ch->ch[i].cid = cid;
	}
}

/*
 * The engine (NV2080_ENGINE_TYPE_*) that a TSG works on; 0: unknown. Where RM does not say, compute
 * work counts as GR0's.
 */
static uint32_t engine_of(int fd, uint32_t client, const struct gs_objects *s, uint32_t tsg)
{
	const struct gs_object *o = gs_objects_engine(s, tsg);
	uint32_t p[4] = {}, status = 0;

	if (!o)
		return 0;
	p[0] = o->handle;
	if (!gs_rm_call_control(fd, client, o->parent, CMD_CLASS_ENGINE, p, sizeof(p), &status) &&
	    !status && gs_engine_kind(p[3]) == gs_objects_kind(s, tsg))
		return p[3];
	return gs_objects_kind(s, tsg) == GPUSCHED_KIND_COMPUTE ? GPUSCHED_ENGINE_GR0 : 0;
}

bool gs_client_is_of(int fd, uint32_t client)
{
	uint32_t class_;

	return !rm_query(&fd, client, client, GS_INDEX_CLASS, &class_);
}

/*
 * Adds the TSG's MIG partition to @engine. RM names the partition, since a client inside one can
 * see no other. If RM does not answer, returns @engine unchanged.
 */
static uint16_t place_of(int fd, uint32_t client, uint32_t subdevice, pid_t pid, uint16_t engine)
{
	CLEANUP_FREE struct nv_pid_infos *p = calloc(1, sizeof(*p));
	uint32_t status = 0;

	if (!p || !subdevice)
		return engine;
	p->n = 1;
	p->list[0] = (struct nv_pid_info){ .pid = (uint32_t)pid, .index = NV_PID_INFO_MEMORY };
	if (gs_rm_call_control(fd, client, subdevice, NV_CMD_PID_INFO, p, sizeof(*p), &status) ||
	    status || p->list[0].status)
		return engine;
	return gpusched_engine_in(engine, p->list[0].gpu_instance, p->list[0].compute_instance);
}

static int read_tsg(const struct gs_clients *c, int fd, uint32_t client, const struct gs_objects *s,
		    const struct gs_object *tsg, const struct gs_client_look *look)
{
	const struct gs_holder *h = look->holder;
	struct gpusched_channels ch = {};
	struct gpusched_tsg rec = {
		.key = { h->file, client, tsg->handle },
		.owner_start_ns = h->start_ns,
		.owner_fd = h->fd,
		.flags = GPUSCHED_TSG_ADOPTED | GPUSCHED_TSG_SCHEDULED,
		.h_device = tsg->parent,
		.dev_instance = GPUSCHED_GPU_UNKNOWN,
	};
	const struct gs_object *engine;
	const struct gs_gpu *gpu;
	uint32_t status = GS_NV_INVALID_CLIENT;
	uint64_t us = 0;

	if (gs_rm_call_control(fd, client, tsg->handle, NV_CMD_GET_TIMESLICE, &us, sizeof(us),
			       &status) ||
	    status)
		return -ENOENT;
	rec.h_subdevice = gs_objects_child(s, tsg->parent, GS_CLASS_SUBDEVICE);
	gpu = gpu_of(c, fd, client, rec.h_subdevice);
	rec.task.gpu = gpu ? gpu->index : GPUSCHED_GPU_UNKNOWN;
	if (gpu)
		rec.dev_instance = gpu->dev_instance;
	rec.task.kind = gs_objects_kind(s, tsg->handle);
	rec.task.engine = engine_of(fd, client, s, tsg->handle);
	engine = gs_objects_engine(s, tsg->handle);
	if (engine && gs_class_draws(engine->class_))
		rec.flags |= GPUSCHED_TSG_DRAWS;
	/* a TSG in use without an engine object counts as compute until it has work */
	if (look->used && rec.task.kind == GPUSCHED_KIND_OTHER) {
		rec.task.kind = GPUSCHED_KIND_COMPUTE;
		rec.task.engine = GPUSCHED_ENGINE_GR0;
	}
	rec.task.pid = h->pid;
	rec.task.uid = h->uid;
	rec.task.created_ns = gs_now_ns();
	memcpy(rec.task.comm, h->comm, sizeof(rec.task.comm));
	if (gs_objects_has(s, GS_CLASS_MIG_GI) || gs_objects_has(s, GS_CLASS_MIG_CI)) {
		rec.flags |= GPUSCHED_TSG_MIG;
		rec.task.engine = place_of(fd, client, rec.h_subdevice, h->pid, rec.task.engine);
	}
	assume(&rec.task, us);
	gs_objects_channels(s, tsg->handle, &ch);
	read_cids(fd, client, &ch);
	rec.nchannels = ch.n;
	look->found(look->user, &rec, &ch);
	return 0;
}

int gs_client_read(const struct gs_clients *c, int fd, uint32_t client,
		   const struct gs_client_look *look, unsigned int *ret_failed)
{
	const struct gs_object_source rm = { rm_query, rm_child, &fd };
	CLEANUP(objects_free) struct gs_objects s = {};
	int r = gs_objects_scan(&rm, client, &s);

	if (!r && look->handle)
		r = gs_objects_near(&rm, client, look->handle, &s);
	for (size_t i = 0; !r && i < s.n; i++)
		if (s.all[i].class_ == GS_CLASS_TSG)
			*ret_failed += read_tsg(c, fd, client, &s, &s.all[i], look) != 0;
	return r;
}
