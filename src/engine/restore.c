// SPDX-License-Identifier: MIT
/*
 * restore.c - everything back to what the owners asked, from the pinned table alone
 *
 * One thread per GPU. Slices first: several short-sliced TSGs enabled together would thrash.
 * A GPU whose calls do not return is left behind, the others go on.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/log.h"
#include "engine/internal.h"
#include "engine/ops.h"
#include "gate/gate.h"

#define ENABLE_AFTER_NS (500 * NS_PER_MS)
#define TRIES 3
#define TRY_AGAIN_NS (20 * NS_PER_MS)

struct item {
	struct gpusched_tsg rec;
	uint32_t left; /* settings still to be put back */
	bool gone;
};

/* The changed TSGs of one GPU. */
struct group {
	struct gs_table *o;
	unsigned int branch;
	uint32_t gpu;
	struct item *items;
	size_t n;
	uint64_t begin;
	bool enabled;
	pthread_t thread;
	pthread_mutex_t lock; /* the three below */
	uint64_t progress_ns;
	bool done, abandoned;
};

/* Groups whose thread did not come back; it still knows them. */
static struct left_behind {
	struct left_behind *next;
	struct group *groups;
} * left_behind;

/* false: nobody waits any more, and the table may be closed. */
static bool progress(struct group *g, bool done)
{
	bool go_on;

	pthread_mutex_lock(&g->lock);
	g->progress_ns = gs_now_ns();
	g->done = done;
	go_on = !g->abandoned;
	pthread_mutex_unlock(&g->lock);
	return go_on;
}

/* ---- one TSG --------------------------------------------------------------------------------- */

static void note(struct group *g, struct item *it, uint32_t bit)
{
	struct gpusched_poke p = { .key = it->rec.key, .id = it->rec.task.id };

	it->left &= ~bit;
	it->rec.changed &= ~bit;
	it->rec.task.is.valid &= ~bit;
	p.what = GPUSCHED_POKE_IS | GPUSCHED_POKE_CHANGED;
	if (bit == GPUSCHED_RUNNABLE) {
		p.what |= GPUSCHED_POKE_SUSPEND;
		it->rec.suspend_by = GPUSCHED_BY_NOBODY;
		it->rec.suspended_ns = it->rec.suspend_until_ns = 0;
	}
	p.rec = it->rec;
	gs_engine_ops.poke(g->o, &p);
}

static void put_back(struct group *g, struct item *it, uint32_t which)
{
	struct gpusched_settings asked = gs_asked(&it->rec);
	struct gpusched_channels ch;
	struct gs_rm_tsg t;

	if (it->gone || !(it->left & which) || !progress(g, false))
		return;
	gs_fill_tsg(&t, &it->rec, g->branch);
	if (!gs_engine_ops.channels(g->o, &it->rec.key, &ch))
		gs_fill_channels(&t, &ch);
	for (unsigned int i = 0; i < GS_NFIELDS; i++) {
		uint32_t bit = GS_BIT(i), value = gs_field_get(&asked, bit);
		struct gs_rm_step step = { .op = gs_field_op(bit, value) };
		int r;

		if (!(it->left & which & bit))
			continue;
		if (bit != GPUSCHED_RUNNABLE)
			step.arg = value;
		r = gs_engine_ops.rm(&t, &step, 1);
		if (!progress(g, false))
			return;
		if (!r)
			note(g, it, bit);
		if (r == -ESRCH || r == -ENOENT || r == -EBADF) {
			it->gone = true;
			break;
		}
	}
}

/* ---- one GPU --------------------------------------------------------------------------------- */

static void enable_all(struct group *g)
{
	g->enabled = true;
	for (size_t i = 0; i < g->n; i++)
		put_back(g, &g->items[i], GPUSCHED_RUNNABLE);
}

static void pass(struct group *g, uint32_t which)
{
	for (size_t i = 0; i < g->n; i++) {
		if (!g->enabled && gs_now_ns() - g->begin >= gs_dilated(ENABLE_AFTER_NS))
			enable_all(g);
		put_back(g, &g->items[i], which);
	}
}

/* An owner that is gone may have left its file to another process: the sweep knows. */
static bool find_new_owners(struct group *g)
{
	bool any = false, swept = false;

	for (size_t i = 0; i < g->n; i++) {
		struct item *it = &g->items[i];
		struct gpusched_tsg now;

		if (!it->gone)
			continue;
		if (!swept && gs_engine_ops.sweep(g->o, NULL, NULL, NULL) < 0)
			return false;
		swept = true;
		if (gs_engine_ops.get(g->o, &it->rec.key, &now) || now.task.id != it->rec.task.id ||
		    now.task.pid == it->rec.task.pid)
			continue;
		it->rec = now;
		it->gone = false;
		any = true;
	}
	return any;
}

static bool is_left(const struct group *g)
{
	for (size_t i = 0; i < g->n; i++)
		if (g->items[i].left && !g->items[i].gone)
			return true;
	return false;
}

static void *restore_gpu(void *arg)
{
	struct group *g = arg;
	bool was = gs_rm_limit_waits(true); /* others are waiting for theirs */

	for (int try = 0; try < TRIES; try++) {
		pass(g, GPUSCHED_TIMESLICE);
		pass(g, GPUSCHED_INTERLEAVE | GPUSCHED_PREEMPT_MODE);
		enable_all(g);
		if (!progress(g, false) || (!find_new_owners(g) && !is_left(g)))
			break;
		gs_sleep_ns(TRY_AGAIN_NS);
	}
	gs_rm_limit_waits(was);
	progress(g, true);
	return NULL;
}

/* ---- all of them ----------------------------------------------------------------------------- */

static struct group *group_of(struct group **groups, size_t *n, uint32_t gpu)
{
	struct group *g, *more;

	for (size_t i = 0; i < *n; i++)
		if ((*groups)[i].gpu == gpu)
			return &(*groups)[i];
	more = realloc(*groups, (*n + 1) * sizeof(*more));
	if (!more)
		return NULL;
	*groups = more;
	g = &more[(*n)++];
	*g = (struct group){ .gpu = gpu };
	return g;
}

static int sort_out(const struct gpusched_tsg *all, size_t count, struct group **groups, size_t *n)
{
	for (size_t i = 0; i < count; i++) {
		struct group *g;
		struct item *more;

		if (!all[i].changed)
			continue;
		g = group_of(groups, n, all[i].task.gpu);
		more = g ? realloc(g->items, (g->n + 1) * sizeof(*more)) : NULL;
		if (!more)
			return -ENOMEM;
		g->items = more;
		g->items[g->n++] = (struct item){ .rec = all[i], .left = all[i].changed };
	}
	return 0;
}

/* First, so that a reconciler that still lives does not bring them back. */
static void clear_wishes(struct gs_table *o, struct gpusched_tsg *rec)
{
	struct gpusched_poke p = { .key = rec->key, .id = rec->task.id };

	if (rec->manual.valid)
		p.what |= GPUSCHED_POKE_MANUAL;
	if (rec->task.want.valid)
		p.what |= GPUSCHED_POKE_WANT_CLEAR;
	if (rec->task.is.valid & ~rec->changed)
		p.what |= GPUSCHED_POKE_IS;
	if (rec->flags & GPUSCHED_TSG_HELD) {
		p.what |= GPUSCHED_POKE_FLAGS;
		p.flags_mask = GPUSCHED_TSG_HELD;
	}
	rec->manual.valid = 0;
	rec->task.want.valid = 0;
	rec->task.is.valid &= rec->changed;
	rec->flags &= ~GPUSCHED_TSG_HELD;
	p.rec = *rec;
	if (p.what)
		gs_engine_ops.poke(o, &p);
}

/* Waits as long as calls return; true when the thread has ended. */
static bool wait_for(struct group *g)
{
	for (;;) {
		struct timespec until;
		bool stuck;

		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += (long)(100 * NS_PER_MS);
		if (until.tv_nsec >= (long)NS_PER_S) {
			until.tv_sec++;
			until.tv_nsec -= (long)NS_PER_S;
		}
		if (!pthread_timedjoin_np(g->thread, NULL, &until))
			return true;
		pthread_mutex_lock(&g->lock);
		stuck = !g->done &&
			gs_now_ns() - g->progress_ns > gs_dilated(gs_engine_ops.stuck_ns);
		g->abandoned = stuck;
		pthread_mutex_unlock(&g->lock);
		if (stuck) {
			pthread_detach(g->thread);
			return false;
		}
	}
}

static void tally(const struct group *g, struct gs_restored *ret)
{
	for (size_t i = 0; i < g->n; i++) {
		if (!g->items[i].left)
			ret->restored++;
		else if (g->items[i].gone)
			ret->gone++;
		else
			ret->failed++;
	}
}

static bool start(struct group *g, struct gs_table *o, unsigned int branch, uint64_t begin)
{
	g->o = o;
	g->branch = branch;
	g->begin = begin;
	g->progress_ns = gs_now_ns();
	pthread_mutex_init(&g->lock, NULL);
	return !pthread_create(&g->thread, NULL, restore_gpu, g);
}

/* false: a thread is left behind, the groups must stay. */
static bool restore_groups(struct gs_table *o, unsigned int branch, uint64_t begin,
			   struct group *groups, size_t n, struct gs_restored *ret)
{
	CLEANUP_FREE bool *started = calloc(n ? n : 1, sizeof(*started));
	bool all = true;

	for (size_t i = 0; i < n; i++) {
		ret->changed += (unsigned int)groups[i].n;
		if (started)
			started[i] = start(&groups[i], o, branch, begin);
		if (!started || !started[i]) { /* no thread to be had: one after the other */
			groups[i].o = o;
			groups[i].branch = branch;
			groups[i].begin = begin;
			restore_gpu(&groups[i]);
		}
	}
	for (size_t i = 0; i < n; i++) {
		if (!started || !started[i] || wait_for(&groups[i])) {
			tally(&groups[i], ret);
			continue;
		}
		gs_log(LOG_ERR, "restore: a call on GPU %u does not return", groups[i].gpu);
		ret->failed += (unsigned int)groups[i].n;
		all = false;
	}
	return all;
}

static void forget_groups(struct group *groups, size_t n, bool complete)
{
	struct left_behind *kept;

	if (!complete) {
		kept = calloc(1, sizeof(*kept));
		if (kept) {
			*kept = (struct left_behind){ .next = left_behind, .groups = groups };
			left_behind = kept;
		}
		return;
	}
	for (size_t i = 0; i < n; i++)
		free(groups[i].items);
	free(groups);
}

int gs_restore(struct gs_table *o, unsigned int branch, struct gs_restored *ret,
	       struct gs_error *err)
{
	CLEANUP_FREE struct gpusched_tsg *all = NULL;
	struct gs_restored sum = { 0 };
	struct gs_released let_go = { 0 };
	struct group *groups = NULL;
	uint64_t begin = gs_now_ns();
	size_t count = 0, n = 0;
	bool complete = true;
	int r = gs_engine_ops.all(o, &all, &count);

	if (r < 0)
		return gs_fail(err, r, "reading the TSG table: %s", strerror(-r));
	gs_self_get(o);
	for (size_t i = 0; i < count; i++)
		clear_wishes(o, &all[i]);
	gs_engine_ops.gate_release(o, true, &let_go);
	sum.continued = let_go.continued;
	r = sort_out(all, count, &groups, &n);
	if (!r)
		complete = restore_groups(o, branch, begin, groups, n, &sum);
	forget_groups(groups, n, complete);
	gs_self_put(o);
	if (r < 0)
		return gs_fail(err, r, "out of memory");
	sum.ns = gs_now_ns() - begin;
	*ret = sum;
	if (sum.failed)
		return gs_fail(
			err, -EIO,
			"%u of %u changed TSGs could not be put back: run 'gpusched restore' "
			"again, or end their processes",
			sum.failed, sum.changed);
	return 0;
}
