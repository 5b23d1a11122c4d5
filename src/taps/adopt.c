// SPDX-License-Identifier: MIT
/*
 * adopt.c - asks RM for TSGs that existed before the taps, and enters them into the table
 */
#include <fcntl.h>
#include <string.h>
#include <utlist.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/log.h"
#include "basic/slices.h"
#include "rm/abi.h"
#include "taps/clients.h"
#include "taps/holders.h"
#include "rm/way.h"
#include "table/priv.h"
#include "process/cgroup.h"
#include "process/process.h"
#include "process/reader.h"
#include "table/procs.h"
#include "taps/taps.h"

#define UNIT 2048u /* client numbers that one turn tries on one file */
/* turns of one user; after that, adoption gives up the user's remaining files */
#define UNITS 1024u
#define TRIES 30
#define AGAIN_NS NS_PER_S

/* An open file, read through the oldest process that holds it; later holders inherited it. */
struct item {
	struct gs_holder holder;
	struct user *user;
	uint32_t rank; /* position among the files of its process */
	size_t at;     /* index of the next client number to try */
	unsigned int tries;
	uint64_t not_before_ns;
	struct item *prev, *next;
};

/* Users take turns. In each turn, the next file of the user is tried for one unit. */
struct user {
	struct gs_sliced sliced;
	struct gs_adoption *a;
	/* @now: files to try next. @later: files to try again, ordered by @not_before_ns. */
	struct item *now, *later;
	unsigned int units;
	unsigned int left; /* number of files that were given up */
};

struct gs_adoption {
	struct gs_table *t;
	struct gs_clients clients;
	gs_adopted_fn fn;
	void *fn_user;
	struct item *items;
	size_t nitems;
	struct user *users;
	size_t nusers;
	struct gs_slices turns;
	struct gs_adopted sum;
	int fd; /* descriptor borrowed from the owner of the client that is being read */
};

void gs_adoption_free(struct gs_adoption *a)
{
	if (!a)
		return;
	gs_clients_free(&a->clients);
	free(a->items);
	free(a->users);
	free(a);
}

static void adoption_free(struct gs_adoption **a)
{
	gs_adoption_free(*a);
}

/* ---- one client ------------------------------------------------------------------------------ */

/* True if the TSG was freed before it entered the table; no tap has reported its end then. */
static bool has_ended(const struct gs_adoption *a, const struct gpusched_tsg *rec)
{
	uint32_t status = GS_NV_OK;
	uint64_t us = 0;

	return !gs_rm_call_control(a->fd, rec->key.client, rec->key.handle, NV_CMD_GET_TIMESLICE,
				   &us, sizeof(us), &status) &&
	       gs_rm_is_denial(status);
}

static void enter(void *user, const struct gpusched_tsg *found, const struct gpusched_channels *ch)
{
	struct gs_adoption *a = user;
	struct gpusched_tsg rec = *found;
	struct gpusched_device dev = { .origin = { .owner = rec.task.pid, .uid = rec.task.uid },
				       .dev_instance = rec.dev_instance,
				       .h_subdevice = rec.h_subdevice };
	struct gpusched_key device = { rec.key.file, rec.key.client, rec.h_device };
	int r;

	rec.task.cgroup_id = gs_cgroup_of((pid_t)rec.task.pid);
	if (gs_reader_is_mps((pid_t)rec.task.pid))
		rec.flags |= GPUSCHED_TSG_MPS;
	gs_table_device(a->t, &device, &dev, rec.owner_start_ns);
	r = gs_table_insert(a->t, &rec, ch);
	if (!r && has_ended(a, &rec)) {
		gs_sweep_one(a->t, &rec, NULL, NULL);
		return;
	}
	if (!r && a->fn)
		a->fn(&rec, a->fn_user);
	if (!r)
		a->sum.tsgs++;
	else if (r != -EEXIST)
		a->sum.failed++;
}

/* @handle: an object of @client that is in use now; 0: none is known. */
static void adopt_client(struct gs_adoption *a, int fd, const struct gs_holder *h, uint32_t client,
			 uint32_t handle)
{
	const struct gs_client_look look = {
		.holder = h,
		.handle = handle,
		.used = handle,
		.found = enter,
		.user = a,
	};

	a->fd = fd;
	if (gs_client_read(&a->clients, fd, client, &look, &a->sum.failed) < 0)
		a->sum.failed++;
	else
		a->sum.clients++;
}

/* ---- all files ------------------------------------------------------------------------------- */

/*
 * Tries the next UNIT client numbers on one file. 1: some are left; -errno: cannot borrow it now.
 */
static int adopt_file(struct gs_adoption *a, struct item *item)
{
	size_t n = a->clients.n, end = item->at + UNIT < n ? item->at + UNIT : n;
	const struct gs_holder *h = &item->holder;
	struct gs_error err = {};
	CLEANUP_FD int fd = -1;
	bool found = false;
	int r = gs_rm_borrow(h->pid, h->uid, h->start_ns, h->fd, &fd, &err);

	if (r < 0) {
		if (!item->tries)
			gs_log(LOG_INFO, "adoption of pid %d: %s", (int)h->pid, err.text);
		return r;
	}
	a->sum.files += !item->at;
	for (; item->at < end; item->at++) {
		uint32_t *client = &a->clients.all[item->at];

		if (!*client || !gs_client_is_of(fd, *client))
			continue;
		adopt_client(a, fd, h, *client, 0);
		*client = 0; /* a client belongs to one file only */
		found = true;
	}
	gs_proc_forget_dead(a->t, h->pid, h->start_ns);
	return item->at < n && (a->clients.asks || !found);
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
		u->left++;
	DL_FOREACH(u->later, item)
		u->left++;
	u->a->sum.left += u->left;
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

/* Tries one unit of one file of a user. A turn may last longer than @until_ns. */
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

void gs_adoption_each_left(const struct gs_adoption *a, gs_adoption_left_fn fn, void *user)
{
	for (size_t i = 0; i < a->nusers; i++)
		if (a->users[i].left)
			fn((uid_t)a->users[i].sliced.uid, a->users[i].left, user);
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

/* Orders the files of a user so that its processes take turns, even if one has many files. */
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
	if (!a->nitems) /* no CUDA program runs here, so RM need not be asked */
		return 0;
	hand_out(a);
	return gs_clients_list(&a->clients, err);
}

static struct gs_adoption adoption_of(struct gs_table *t, const struct gs_gpu *gpus, size_t ngpus,
				      gs_adopted_fn fn, void *user)
{
	return (struct gs_adoption){
		.t = t,
		.clients = { .own = -1, .gpus = gpus, .ngpus = ngpus },
		.fn = fn,
		.fn_user = user,
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
	adopt_client(&a, fd, h, key->client, key->handle);
	gs_proc_forget_dead(t, h->pid, h->start_ns);
	*ret = a.sum;
	return 0;
}
