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
#include <utlist.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/log.h"
#include "basic/slices.h"
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
#define FAR_BACK 65536u /* client numbers looked at */
#define UNIT 2048u      /* client numbers that a file is asked for in one turn */
#define UNITS 1024u     /* ... turns of one user */
#define TRIES 5
#define AGAIN_NS NS_PER_S

/* A file to be looked at, by the oldest of its holders: who opened it, not who inherited it. */
struct item {
	struct gs_holder holder;
	struct user *user;
	uint32_t rank; /* which one it is of its process */
	size_t at;     /* how many clients it was asked for */
	unsigned int tries;
	uint64_t not_before_ns;
	struct item *prev, *next;
};

/* Users take turns; one file of a user after the other has a unit in each. */
struct user {
	struct gs_sliced sliced;
	struct gs_adoption *a;
	struct item *now, *later; /* those that are tried again, in the order of their times */
	unsigned int units;
};

struct gs_adoption {
	struct gs_table *t;
	const struct gs_gpu *gpus;
	size_t ngpus;
	gs_adopted_fn fn;
	void *fn_user;
	struct item *items;
	size_t nitems;
	struct user *users;
	size_t nusers;
	struct gs_slices turns;
	bool asks; /* RM says which clients exist */
	bool used; /* its owner uses it just now: not one that was made and forgotten */
	int own;   /* our own control file */
	uint32_t own_client;
	uint32_t *clients; /* numbers that may exist */
	size_t nclients;
	struct gs_adopted sum;
};

void gs_adoption_free(struct gs_adoption *a)
{
	uint32_t status;

	if (!a)
		return;
	if (a->own >= 0) {
		if (a->own_client)
			gs_rm_free(a->own, a->own_client, a->own_client, a->own_client, &status);
		close(a->own);
	}
	free(a->clients);
	free(a->items);
	free(a->users);
	free(a);
}

static void adoption_free(struct gs_adoption **a)
{
	gs_adoption_free(*a);
}

/* ---- which clients may exist ----------------------------------------------------------------- */

static bool client_exists(struct gs_adoption *a, uint32_t client, uint32_t *ret_status)
{
	uint32_t params[3] = { client, client, 0 };

	*ret_status = GS_NV_NOT_SUPPORTED;
	return !gs_rm_control(a->own, a->own_client, a->own_client, CMD_ACCESS_RIGHTS, params,
			      sizeof(params), ret_status) &&
	       *ret_status == GS_NV_OK;
}

/* Downwards from the number that RM gave us just now, so that the newest come first. */
static int list_clients(struct gs_adoption *a)
{
	uint32_t now = a->own_client & CLIENT_MASK, status;
	uint32_t first = now > FAR_BACK ? now - FAR_BACK : 0;

	a->asks = client_exists(a, a->own_client, &status);
	a->clients = calloc(now - first + 1, sizeof(*a->clients));
	if (!a->clients)
		return -ENOMEM;
	for (uint32_t n = now; n-- > first;)
		if (!a->asks || client_exists(a, CLIENT_BASE | n, &status))
			a->clients[a->nclients++] = CLIENT_BASE | n;
	return 0;
}

static int start(struct gs_adoption *a, struct gs_error *err)
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
static const struct gs_gpu *gpu_of(struct gs_adoption *a, int fd, uint32_t client,
				   uint32_t subdevice)
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

static int adopt_tsg(struct gs_adoption *a, int fd, const struct gs_holder *h, uint32_t client,
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
	int r;

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
	r = gs_table_insert(a->t, &rec, &ch);
	if (!r && a->fn)
		a->fn(&rec, a->fn_user);
	return r;
}

/* @handle: known to be there; 0: none is. */
static void adopt_client(struct gs_adoption *a, int fd, const struct gs_holder *h, uint32_t client,
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

/* Some of its clients. 1: there may be more; -errno: it can't be had now. */
static int adopt_file(struct gs_adoption *a, struct item *item)
{
	size_t end = item->at + UNIT < a->nclients ? item->at + UNIT : a->nclients;
	const struct gs_holder *h = &item->holder;
	struct gs_error err = {};
	CLEANUP_FD int fd = -1;
	bool found = false;
	uint32_t class_;
	int r = gs_rm_borrow(h->pid, h->uid, h->start_ns, h->fd, &fd, &err);

	if (r < 0) {
		gs_log(LOG_INFO, "adoption of pid %d: %s", (int)h->pid, err.text);
		return r;
	}
	a->sum.files += !item->at;
	for (; item->at < end; item->at++) {
		uint32_t *client = &a->clients[item->at];

		if (!*client || rm_query(&fd, *client, *client, GS_INDEX_CLASS, &class_))
			continue;
		adopt_client(a, fd, h, *client, 0);
		*client = 0; /* a client is of one file */
		found = true;
	}
	gs_proc_forget_dead(a->t, h->pid, h->start_ns);
	return item->at < a->nclients && (a->asks || !found);
}

/* ---- in turn by user ------------------------------------------------------------------------- */

static void wake(struct user *u, uint64_t now)
{
	struct item *item;

	while ((item = u->later) && item->not_before_ns <= now) {
		DL_DELETE(u->later, item);
		DL_APPEND(u->now, item);
	}
	if (u->now)
		gs_slices_add(&u->a->turns, &u->sliced);
}

static void give_up(struct user *u)
{
	struct item *item;

	DL_FOREACH(u->now, item)
		u->a->sum.left++;
	DL_FOREACH(u->later, item)
		u->a->sum.left++;
	u->now = u->later = NULL;
}

static void put_back(struct user *u, struct item *item, int r)
{
	if (r == 1) {
		DL_APPEND(u->now, item);
	} else if (r == -ESRCH || (r < 0 && ++item->tries == TRIES)) {
		u->a->sum.failed++;
	} else if (r < 0) {
		item->not_before_ns = gs_now_ns() + AGAIN_NS;
		DL_APPEND(u->later, item);
	}
}

/* One file, however little time there is: it takes as long as its unit. */
static void take_turn(struct gs_sliced *w, uint64_t until_ns)
{
	struct user *u = GS_SLICED_OF(w, struct user, sliced);
	struct item *item = u->now;

	DL_DELETE(u->now, item);
	put_back(u, item, adopt_file(u->a, item));
	if (++u->units == UNITS)
		give_up(u);
	wake(u, gs_now_ns());
}

uint64_t gs_adoption_due(const struct gs_adoption *a)
{
	uint64_t due = UINT64_MAX;

	for (size_t i = 0; i < a->nusers; i++) {
		const struct user *u = &a->users[i];

		if (u->now)
			return 0;
		if (u->later && u->later->not_before_ns < due)
			due = u->later->not_before_ns;
	}
	return due;
}

void gs_adoption_step(struct gs_adoption *a, uint64_t until_ns)
{
	for (size_t i = 0; i < a->nusers; i++)
		wake(&a->users[i], gs_now_ns());
	while (a->turns.first && gs_now_ns() < until_ns)
		gs_slices_run(&a->turns);
}

const struct gs_adopted *gs_adoption_sum(const struct gs_adoption *a)
{
	return &a->sum;
}

/* ---- all files ------------------------------------------------------------------------------- */

static int by_file(const void *x, const void *y)
{
	const struct gs_holder *a = x, *b = y;

	if (a->file != b->file)
		return a->file < b->file ? -1 : 1;
	return a->start_ns < b->start_ns ? -1 : a->start_ns > b->start_ns;
}

static int by_process(const void *x, const void *y)
{
	const struct item *a = x, *b = y;

	if (a->holder.pid != b->holder.pid)
		return a->holder.pid < b->holder.pid ? -1 : 1;
	return a->holder.fd < b->holder.fd ? -1 : a->holder.fd > b->holder.fd;
}

/* A user's processes by turns, whatever number of files one of them has. */
static int by_user(const void *x, const void *y)
{
	const struct item *a = x, *b = y;

	if (a->holder.uid != b->holder.uid)
		return a->holder.uid < b->holder.uid ? -1 : 1;
	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	return a->holder.pid < b->holder.pid ? -1 : a->holder.pid > b->holder.pid;
}

static void hand_out(struct gs_adoption *a)
{
	struct item *all = a->items;
	struct user *u = NULL;

	qsort(all, a->nitems, sizeof(*all), by_process);
	for (size_t i = 0; i < a->nitems; i++) {
		bool same = i && all[i].holder.pid == all[i - 1].holder.pid;

		all[i].rank = same ? all[i - 1].rank + 1 : 0;
		a->sum.processes += !same;
	}
	qsort(all, a->nitems, sizeof(*all), by_user);
	for (size_t i = 0; i < a->nitems; i++) {
		if (!u || u->sliced.uid != all[i].holder.uid) {
			u = &a->users[a->nusers++];
			u->sliced = (struct gs_sliced){ take_turn, .uid = all[i].holder.uid };
			u->a = a;
		}
		DL_APPEND(u->now, &all[i]);
	}
}

static int find_files(struct gs_adoption *a, struct gs_error *err)
{
	CLEANUP_FREE struct gs_holder *all = NULL;
	size_t n = 0;
	int r = gs_holders_read(a->t, &all, &n, err);

	if (r || !n)
		return r;
	a->items = calloc(n, sizeof(*a->items));
	a->users = calloc(n, sizeof(*a->users));
	if (!a->items || !a->users)
		return -ENOMEM;
	qsort(all, n, sizeof(*all), by_file);
	for (size_t i = 0; i < n; i++)
		if (all[i].control && all[i].pid != getpid() &&
		    (!i || all[i].file != all[i - 1].file))
			a->items[a->nitems++].holder = all[i];
	if (!a->nitems) /* a machine without CUDA programs costs nothing */
		return 0;
	hand_out(a);
	return start(a, err);
}

static struct gs_adoption adoption_of(struct gs_table *t, const struct gs_gpu *gpus, size_t ngpus,
				      gs_adopted_fn fn, void *user)
{
	return (struct gs_adoption){
		.t = t, .gpus = gpus, .ngpus = ngpus, .fn = fn, .fn_user = user, .own = -1
	};
}

int gs_adoption_new(struct gs_table *t, const struct gs_gpu *gpus, size_t ngpus, gs_adopted_fn fn,
		    void *user, struct gs_adoption **ret, struct gs_error *err)
{
	CLEANUP(adoption_free) struct gs_adoption *a = malloc(sizeof(*a));
	int r;

	if (!a)
		return -ENOMEM;
	*a = adoption_of(t, gpus, ngpus, fn, user);
	r = find_files(a, err);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(a);
	return 0;
}

int gs_adopt_orphan(struct gs_table *t, const struct gs_gpu *gpus, size_t ngpus, pid_t pid,
		    const struct gpusched_key *key, gs_adopted_fn fn, void *user,
		    struct gs_adopted *ret, struct gs_error *err)
{
	struct gs_adoption a = adoption_of(t, gpus, ngpus, fn, user);
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
	a.used = true;
	adopt_client(&a, fd, h, key->client, key->handle);
	gs_proc_forget_dead(t, h->pid, h->start_ns);
	*ret = a.sum;
	return 0;
}
