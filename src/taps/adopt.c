// SPDX-License-Identifier: MIT
/*
 * adopt.c - TSGs that were there before the taps, found by asking RM
 *
 * RM does not list a client's objects, but says of a handle whether it exists, its class and its
 * parent (0xd02), to whoever calls through the client's own open file. Client numbers count up from
 * 0xc1d00000; libcuda numbers its objects from 0x5c000000, RM itself from 0xcaf00000.
 */
#include <fcntl.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/log.h"
#include "taps/adopt.h"
#include "taps/holders.h"
#include "rm/decode.h"
#include "rm/way.h"
#include "table/priv.h"
#include "rm/abi.h"
#include "process/cgroup.h"
#include "process/process.h"
#include "table/procs.h"
#include "taps/taps.h"

#define CMD_ACCESS_RIGHTS 0xd03u
#define CMD_CONTEXT_ID 0xa06f0113u
#define CMD_CLASS_ENGINE 0x906f0101u

#define CLIENT_BASE 0xc1d00000u
#define CLIENT_MASK 0xfffffu
#define FAR_BACK 65536u /* client numbers looked at when RM says which exist */
#define NEAR_BACK 2048u /* ... and when every file has to be asked for every number */
#define TIME_LIMIT (10 * NS_PER_S)

struct adopt {
	struct gs_table *t;
	const struct gs_gpu *gpus;
	size_t ngpus;
	int own; /* our own control file */
	uint32_t own_client;
	uint32_t *clients; /* numbers that may exist */
	size_t nclients;
	uint64_t deadline;
	bool used; /* its owner uses it just now: not one that was made and forgotten */
	struct gs_adopted sum;
};

static void adopt_end(struct adopt *a)
{
	uint32_t status;

	if (a->own >= 0) {
		if (a->own_client)
			gs_rm_free(a->own, a->own_client, a->own_client, a->own_client, &status);
		close(a->own);
	}
	free(a->clients);
}

/* ---- which clients may exist ----------------------------------------------------------------- */

static bool client_exists(struct adopt *a, uint32_t client, uint32_t *ret_status)
{
	uint32_t params[3] = { client, client, 0 };

	*ret_status = GS_NV_NOT_SUPPORTED;
	return !gs_rm_control(a->own, a->own_client, a->own_client, CMD_ACCESS_RIGHTS, params,
			      sizeof(params), ret_status) &&
	       *ret_status == GS_NV_OK;
}

/* Downwards from the number that RM gave us just now, so that the newest come first. */
static int list_clients(struct adopt *a)
{
	uint32_t now = a->own_client & CLIENT_MASK, status;
	bool asks = client_exists(a, a->own_client, &status);
	uint32_t back = asks ? FAR_BACK : NEAR_BACK, first = now > back ? now - back : 0;

	a->clients = calloc(now - first + 1, sizeof(*a->clients));
	if (!a->clients)
		return -ENOMEM;
	for (uint32_t n = now; n-- > first;)
		if (!asks || client_exists(a, CLIENT_BASE | n, &status))
			a->clients[a->nclients++] = CLIENT_BASE | n;
	return 0;
}

static int start(struct adopt *a, struct gs_error *err)
{
	uint32_t status = 0;
	int r;

	a->own = gs_rm_open_control();
	if (a->own < 0)
		return gs_fail(err, -ENODEV, "cannot open %s: %s", NV_CTL_PATH, strerror(-a->own));
	r = gs_rm_alloc(a->own, 0, 0, &a->own_client, NV_CLASS_ROOT, NULL, 0, &status);
	if (r < 0 || status)
		return gs_fail(err, r < 0 ? r : -EREMOTEIO, "RM gives us no client (status 0x%x)",
			       status);
	return list_clients(a);
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

	if (gs_rm_control(*(int *)user, client, client, GS_CMD_HANDLE_INFO, &p, sizeof(p),
			  &status) ||
	    status)
		return -ENOENT;
	*ret = (uint32_t)p.data;
	return 0;
}

static int rm_child(void *user, uint32_t client, uint32_t parent, uint32_t class_, uint32_t *ret)
{
	uint32_t p[3] = { parent, class_, 0 }, status = GS_NV_INVALID_CLIENT;

	if (gs_rm_control(*(int *)user, client, client, GS_CMD_CHILD_HANDLE, p, sizeof(p),
			  &status) ||
	    status || !p[2])
		return -ENOENT;
	*ret = p[2];
	return 0;
}

/* ---- one TSG --------------------------------------------------------------------------------- */

/* The GPU of a subdevice, by its UUID; the only one where there is but one. */
static const struct gs_gpu *gpu_of(struct adopt *a, int fd, uint32_t client, uint32_t subdevice)
{
	struct nv_gpu_gid gid = {};
	uint32_t status = 0;

	if (subdevice &&
	    !gs_rm_control(fd, client, subdevice, NV_CMD_GPU_GID, &gid, sizeof(gid), &status) &&
	    !status)
		for (size_t i = 0; i < a->ngpus; i++)
			if (!strncmp(a->gpus[i].uuid, gid.data, sizeof(a->gpus[i].uuid) - 1))
				return &a->gpus[i];
	return a->ngpus == 1 ? &a->gpus[0] : NULL;
}

/* What cannot be read back is assumed: the level every TSG starts with, the mode CUDA sets. */
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

		if (!gs_rm_control(fd, client, ch->ch[i].handle, CMD_CONTEXT_ID, &cid, sizeof(cid),
				   &status) &&
		    !status)
			ch->ch[i].cid = cid;
	}
}

/* NV2080_ENGINE_TYPE_* of a TSG with work for it; 0: RM does not say. */
static uint32_t engine_of(int fd, uint32_t client, const struct gs_objects *s, uint32_t tsg)
{
	const struct gs_object *o = gs_objects_engine(s, tsg);
	uint32_t p[4] = {}, status = 0;

	if (!o)
		return 0;
	p[0] = o->handle;
	if (!gs_rm_control(fd, client, o->parent, CMD_CLASS_ENGINE, p, sizeof(p), &status) &&
	    !status && gs_engine_kind(p[3]) == gs_objects_kind(s, tsg))
		return p[3];
	return gs_objects_kind(s, tsg) == GPUSCHED_KIND_COMPUTE; /* GR0, or unknown */
}

static int adopt_tsg(struct adopt *a, int fd, const struct gs_holder *h, uint32_t client,
		     const struct gs_objects *s, const struct gs_object *tsg)
{
	struct gpusched_channels ch = {};
	struct gpusched_tsg rec = {
		.key = { h->file, client, tsg->handle },
		.owner_start_ns = h->start_ns,
		.owner_fd = h->fd,
		.flags = GPUSCHED_TSG_ADOPTED | GPUSCHED_TSG_SCHEDULED,
		.h_device = tsg->parent,
		.dev_instance = GPUSCHED_GPU_UNKNOWN,
	};
	struct gpusched_device dev = { .origin.owner = h->pid,
				       .dev_instance = GPUSCHED_GPU_UNKNOWN };
	const struct gs_gpu *gpu;
	uint32_t status = GS_NV_INVALID_CLIENT;
	uint64_t us = 0;

	if (gs_rm_control(fd, client, tsg->handle, NV_CMD_GET_TIMESLICE, &us, sizeof(us),
			  &status) ||
	    status)
		return -ENOENT;
	rec.h_subdevice = dev.h_subdevice = gs_objects_child(s, tsg->parent, GS_CLASS_SUBDEVICE);
	gpu = gpu_of(a, fd, client, rec.h_subdevice);
	rec.task.gpu = gpu ? gpu->index : GPUSCHED_GPU_UNKNOWN;
	if (gpu)
		rec.dev_instance = dev.dev_instance = gpu->dev_instance;
	rec.task.kind = gs_objects_kind(s, tsg->handle);
	rec.task.engine = engine_of(fd, client, s, tsg->handle);
	if (a->used && rec.task.kind == GPUSCHED_KIND_OTHER) { /* no work yet: governed till then */
		rec.task.kind = GPUSCHED_KIND_COMPUTE;
		rec.task.engine = 1;
	}
	rec.task.pid = h->pid;
	rec.task.uid = h->uid;
	rec.task.cgroup_id = gs_cgroup_of(h->pid);
	rec.task.created_ns = gs_now_ns();
	memcpy(rec.task.comm, h->comm, sizeof(rec.task.comm));
	if (gs_proc_is_mps(h->pid))
		rec.flags |= GPUSCHED_TSG_MPS;
	if (gs_objects_has(s, GS_CLASS_MIG_GI) || gs_objects_has(s, GS_CLASS_MIG_CI))
		rec.flags |= GPUSCHED_TSG_MIG;
	assume(&rec.task, us);
	gs_objects_channels(s, tsg->handle, &ch);
	read_cids(fd, client, &ch);
	gs_table_device(a->t, &(struct gpusched_key){ h->file, client, tsg->parent }, &dev,
			h->start_ns);
	return gs_table_insert(a->t, &rec, &ch);
}

/* @handle: known to be there; 0: none is. */
static void adopt_client(struct adopt *a, int fd, const struct gs_holder *h, uint32_t client,
			 uint32_t handle)
{
	const struct gs_object_source rm = { rm_query, rm_child, &fd };
	CLEANUP(objects_free) struct gs_objects s = {};
	int r = gs_objects_scan(&rm, client, &s);

	if (!r && handle)
		r = gs_objects_near(&rm, client, handle, &s);
	if (r < 0) {
		a->sum.failed++;
		return;
	}
	a->sum.clients++;
	for (size_t i = 0; i < s.n; i++) {
		if (s.all[i].class_ != GS_CLASS_TSG)
			continue;
		r = adopt_tsg(a, fd, h, client, &s, &s.all[i]);
		if (!r)
			a->sum.tsgs++;
		else if (r != -EEXIST)
			a->sum.failed++;
	}
}

/* ---- all files ------------------------------------------------------------------------------- */

static void adopt_file(struct adopt *a, const struct gs_holder *h)
{
	struct gs_error err = {};
	CLEANUP_FD int fd = -1;
	uint32_t class_;

	if (gs_rm_borrow(h->pid, h->uid, h->start_ns, h->fd, &fd, &err) < 0) {
		gs_log(LOG_INFO, "adoption of pid %d: %s", (int)h->pid, err.text);
		a->sum.failed++;
		return;
	}
	a->sum.files++;
	for (size_t i = 0; i < a->nclients; i++) {
		if (!a->clients[i] ||
		    rm_query(&fd, a->clients[i], a->clients[i], GS_INDEX_CLASS, &class_))
			continue;
		adopt_client(a, fd, h, a->clients[i], 0);
		a->clients[i] = 0; /* a client is of one file */
	}
	gs_proc_forget_dead(a->t, h->pid, h->start_ns);
}

/* By file, the oldest holder first: who opened it, not who inherited it. */
static int by_file(const void *x, const void *y)
{
	const struct gs_holder *a = x, *b = y;

	if (a->file != b->file)
		return a->file < b->file ? -1 : 1;
	return a->start_ns < b->start_ns ? -1 : a->start_ns > b->start_ns;
}

int gs_adopt(struct gs_table *t, const struct gs_gpu *gpus, size_t ngpus, struct gs_adopted *ret,
	     struct gs_error *err)
{
	CLEANUP(adopt_end) struct adopt a = { .t = t, .gpus = gpus, .ngpus = ngpus, .own = -1 };
	CLEANUP_FREE struct gs_holder *all = NULL;
	size_t n = 0, files = 0;
	pid_t last = 0;
	int r;

	r = gs_holders_read(t, &all, &n, err);
	if (r < 0)
		return r;
	a.deadline = gs_now_ns() + TIME_LIMIT;
	if (n) /* no array else */
		qsort(all, n, sizeof(*all), by_file);
	for (size_t i = 0; i < n; i++) {
		if (!all[i].control || all[i].pid == getpid() ||
		    (i && all[i].file == all[i - 1].file))
			continue;
		if (!files++) { /* a machine without CUDA programs costs nothing */
			r = start(&a, err);
			if (r < 0)
				return r;
		}
		if (gs_now_ns() > a.deadline) {
			a.sum.failed++;
			continue;
		}
		a.sum.processes += all[i].pid != last;
		last = all[i].pid;
		adopt_file(&a, &all[i]);
	}
	*ret = a.sum;
	return 0;
}

int gs_adopt_orphan(struct gs_table *t, const struct gs_gpu *gpus, size_t ngpus, pid_t pid,
		    const struct gpusched_key *key, struct gs_adopted *ret, struct gs_error *err)
{
	struct adopt a = { .t = t, .gpus = gpus, .ngpus = ngpus, .own = -1, .used = true };
	CLEANUP_FREE struct gs_holder *all = NULL;
	const struct gs_holder *h;
	CLEANUP_FD int fd = -1;
	size_t n = 0;
	int r = gs_holders_of(t, pid, &all, &n, err);

	if (r < 0)
		return r;
	h = gs_holder_find(all, n, key->file, pid);
	if (!h)
		return gs_fail(err, -ENOENT, "process %d has closed that file", (int)pid);
	r = gs_rm_borrow(h->pid, h->uid, h->start_ns, h->fd, &fd, err);
	if (r < 0)
		return r;
	adopt_client(&a, fd, h, key->client, key->handle);
	gs_proc_forget_dead(t, h->pid, h->start_ns);
	*ret = a.sum;
	return 0;
}
