// SPDX-License-Identifier: MIT
/*
 * restore.c - restores what the owners asked for, from the pinned table alone
 *
 * One thread per GPU. Timeslices come first: several TSGs with short slices would thrash if they
 * were resumed together. If a GPU's calls do not return, that GPU is left behind and the others go
 * on. If an owner makes a thread wait, that thread is left behind as well. Another thread goes on
 * with that GPU, and restores that user's TSGs last. Last of all, TSGs that are not changed get the
 * enable that an earlier suspension owes them.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/log.h"
#include "engine/restore.h"
#include "engine/internal.h"
#include "engine/ops.h"
#include "gate/gate.h"

#define ENABLE_AFTER_NS (500 * NS_PER_MS)
#define TRIES 3
#define TRY_AGAIN_NS (20 * NS_PER_MS)
#define LOOK_NS (10 * NS_PER_MS)
/*
 * Enables that are owed take the locks of all GPUs, so all groups share one rest: together they
 * take 3 % of the time, or have this long between two.
 */
#define REST_TIMES 32
#define REST_MOST_NS (10 * NS_PER_MS)
static _Atomic uint64_t rest_until, rest_each = REST_MOST_NS;

struct item {
	struct gpusched_tsg rec;
	uint32_t left; /* settings that are not restored yet */
	unsigned int turn;
	bool owed; /* nothing is changed, but an enable is owed */
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
	bool late; /* it is the turn of the enables that are owed */
	unsigned int tries;
	struct hand *hand;
	pthread_mutex_t lock; /* protects the next three fields */
	uint64_t progress_ns;
	bool done, abandoned;
};

/* The thread that works on a group. */
struct hand {
	struct gs_wait wait;
	struct group *g;
	pthread_t thread;
};

/* Groups that are never freed, since threads that hang may still use them. */
static struct left_behind {
	struct left_behind *next;
	struct group *groups;
} * left_behind;

/* Returns false if nobody waits for this thread any more: the table may be closed by now. */
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
		p.what |= GPUSCHED_POKE_SUSPEND | GPUSCHED_POKE_FLAGS;
		p.flags_mask = GPUSCHED_TSG_ENABLE_DUE;
		it->rec.flags &= ~GPUSCHED_TSG_ENABLE_DUE;
		it->rec.suspend_by = GPUSCHED_BY_NOBODY;
		it->rec.suspended_ns = it->rec.suspend_until_ns = 0;
	}
	p.rec = it->rec;
	gs_engine_ops.poke(g->o, &p);
}

/* The call failed, but may have taken effect. */
static void note_unknown(struct group *g, struct item *it, uint32_t bit)
{
	struct gpusched_poke p = { .key = it->rec.key, .id = it->rec.task.id };

	it->rec.task.is.valid &= ~bit;
	it->rec.changed |= bit;
	p.what = GPUSCHED_POKE_IS | GPUSCHED_POKE_CHANGED;
	p.rec = it->rec;
	gs_engine_ops.poke(g->o, &p);
}

/* True if RM, asked again, still has no such TSG: then nothing of it can be restored. */
static bool is_denied_again(const struct gs_rm_tsg *t)
{
	struct gs_rm_step step = { .op = GS_RM_GET_TIMESLICE };

	gs_engine_ops.restore_way->take(t, &step, 1);
	return step.res.denied;
}

/* Returns false if the thread is left behind, and must touch nothing but its hand. */
static bool put_back(struct hand *h, struct item *it, uint32_t which)
{
	struct group *g = h->g;
	struct gpusched_settings asked = gs_fields_asked(&it->rec);
	struct gpusched_channels ch;
	struct gs_rm_tsg t;

	if (it->gone || it->owed != g->late || !(it->left & which) || !progress(g, false))
		return true;
	gs_fields_fill_tsg(&t, &it->rec, g->branch);
	t.wait = &h->wait;
	t.find = gs_engine_ops.find_fd;
	t.finder = g->o;
	if (!gs_engine_ops.channels(g->o, &it->rec.key, &ch))
		gs_fields_fill_channels(&t, &ch);
	for (unsigned int i = 0; i < GS_NFIELDS; i++) {
		uint32_t bit = GS_BIT(i), value = gs_field_get(&asked, bit);
		struct gs_rm_step step = { .op = gs_field_op(bit, value) };
		int r;

		if (!(it->left & which & bit))
			continue;
		if (bit != GPUSCHED_RUNNABLE)
			step.arg = value;
		r = gs_engine_ops.restore_way->take(&t, &step, 1);
		if (gs_wait_is_given_up(&h->wait))
			return false;
		if (!progress(g, false) || r == -ETIMEDOUT)
			break;
		if (!r)
			note(g, it, bit);
		if (step.res.denied && is_denied_again(&t) && !gs_wait_is_given_up(&h->wait))
			gs_engine_ops.end(g->o, &it->rec, NULL, NULL);
		if (gs_wait_is_given_up(&h->wait))
			return false;
		if (r == -ESRCH || r == -ENOENT || r == -EBADF) {
			it->gone = true;
			break;
		}
		if (r && !gs_rm_ops_refused(&step))
			note_unknown(g, it, bit);
	}
	return true;
}

/* ---- one GPU --------------------------------------------------------------------------------- */

/* Slow owners' TSGs come last. */
static bool each(struct hand *h, uint32_t which,
		 bool (*fn)(struct hand *h, struct item *it, uint32_t which))
{
	struct group *g = h->g;

	for (int slow = 0; slow < 2; slow++)
		for (size_t i = 0; i < g->n; i++)
			if (gs_wait_is_slow(g->items[i].rec.task.uid) == slow &&
			    !fn(h, &g->items[i], which))
				return false;
	return true;
}

static bool enable_all(struct hand *h)
{
	h->g->enabled = true;
	return each(h, GPUSCHED_RUNNABLE, put_back);
}

static bool put_back_in_time(struct hand *h, struct item *it, uint32_t which)
{
	if (!h->g->enabled && gs_now_ns() - h->g->begin >= gs_dilated(ENABLE_AFTER_NS) &&
	    !enable_all(h))
		return false;
	return put_back(h, it, which);
}

/* Waits for the end of the rest after the last call, and reserves the rest after the next one. */
static void rest(void)
{
	uint64_t now = gs_now_ns(), until = rest_until, at;

	do
		at = until > now ? until : now;
	while (!atomic_compare_exchange_weak(&rest_until, &until, at + rest_each));
	gs_sleep_ns(at - now);
}

static bool enable_late(struct hand *h, struct item *it, uint32_t which)
{
	bool owed = it->owed && (it->left & which);
	uint64_t begin, ns;
	bool go_on;

	if (owed)
		rest();
	begin = gs_now_ns();
	go_on = put_back(h, it, which);
	ns = (gs_now_ns() - begin) * REST_TIMES;
	if (owed)
		rest_each = ns < REST_MOST_NS ? ns : REST_MOST_NS;
	return go_on;
}

/* If an owner has ended, another process may hold its file: the sweep finds that process. */
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
		if (g->items[i].left && !g->items[i].gone && !g->items[i].owed)
			return true;
	return false;
}

static void *restore_gpu(void *arg)
{
	struct hand *h = arg;
	struct group *g = h->g;

	for (; g->tries < TRIES; g->tries++) {
		if (!each(h, GPUSCHED_TIMESLICE, put_back_in_time) ||
		    !each(h, GPUSCHED_INTERLEAVE | GPUSCHED_PREEMPT_MODE, put_back_in_time) ||
		    !enable_all(h)) {
			free(h);
			return NULL;
		}
		if (!progress(g, false) || (!find_new_owners(g) && !is_left(g)))
			break;
		gs_sleep_ns(TRY_AGAIN_NS);
	}
	g->late = true;
	if (!each(h, GPUSCHED_RUNNABLE, enable_late)) {
		free(h);
		return NULL;
	}
	progress(g, true);
	return NULL;
}

/* ---- all GPUs -------------------------------------------------------------------------------- */

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

static int by_user(const void *a, const void *b)
{
	const struct gpusched_task *x = &((const struct item *)a)->rec.task;
	const struct gpusched_task *y = &((const struct item *)b)->rec.task;

	if (x->uid != y->uid)
		return x->uid < y->uid ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

static int by_turn(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	if (x->turn != y->turn)
		return x->turn < y->turn ? -1 : 1;
	return by_user(a, b);
}

/* Orders TSGs so that users take turns: no user waits for all TSGs of another. */
static void take_turns(struct group *g)
{
	qsort(g->items, g->n, sizeof(*g->items), by_user);
	for (size_t i = 1; i < g->n; i++)
		if (g->items[i].rec.task.uid == g->items[i - 1].rec.task.uid)
			g->items[i].turn = g->items[i - 1].turn + 1;
	qsort(g->items, g->n, sizeof(*g->items), by_turn);
}

static int sort_out(const struct gpusched_tsg *all, size_t count, struct group **groups, size_t *n)
{
	for (size_t i = 0; i < count; i++) {
		bool owes = all[i].flags & GPUSCHED_TSG_ENABLE_DUE;
		uint32_t left = all[i].changed | (owes ? GPUSCHED_RUNNABLE : 0);
		struct group *g;
		struct item *more;

		if (!left)
			continue;
		g = group_of(groups, n, all[i].task.gpu);
		more = g ? realloc(g->items, (g->n + 1) * sizeof(*more)) : NULL;
		if (!more)
			return -ENOMEM;
		g->items = more;
		g->items[g->n++] =
			(struct item){ .rec = all[i], .left = left, .owed = !all[i].changed };
	}
	for (size_t i = 0; i < *n; i++)
		take_turns(&(*groups)[i]);
	return 0;
}

/* Runs before the restore, so that a reconciler that still lives finds no wish to set again. */
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

static int start(struct group *g)
{
	struct hand *h = calloc(1, sizeof(*h));
	int r;

	if (!h)
		return -ENOMEM;
	h->g = g;
	r = -pthread_create(&h->thread, NULL, restore_gpu, h);
	if (r)
		free(h);
	else
		g->hand = h;
	return r;
}

/*
 * If the group's thread is stuck at an owner, another thread goes on in its place. Returns false if
 * that thread cannot be made.
 */
static bool replace_hand(struct group *g)
{
	pthread_t thread = g->hand->thread;

	if (!gs_wait_give_up(&g->hand->wait, gs_wait_patience()))
		return true;
	pthread_detach(thread);
	g->hand = NULL;
	return !start(g);
}

static bool is_stuck(struct group *g)
{
	bool stuck;

	pthread_mutex_lock(&g->lock);
	stuck = !g->done && gs_now_ns() - g->progress_ns > gs_dilated(gs_engine_ops.stuck_ns);
	g->abandoned = stuck;
	pthread_mutex_unlock(&g->lock);
	return stuck;
}

/*
 * Waits for the group's thread while its calls keep returning. Returns false if the thread hangs.
 */
static bool wait_for(struct group *g)
{
	for (;;) {
		struct timespec until;

		clock_gettime(CLOCK_MONOTONIC, &until);
		until.tv_nsec += (long)(LOOK_NS);
		if (until.tv_nsec >= (long)NS_PER_S) {
			until.tv_sec++;
			until.tv_nsec -= (long)NS_PER_S;
		}
		if (!pthread_clockjoin_np(g->hand->thread, NULL, CLOCK_MONOTONIC, &until)) {
			free(g->hand);
			return true;
		}
		if (!replace_hand(g))
			return true; /* no thread can be made: count the rest as failed */
		if (is_stuck(g)) {
			pthread_detach(g->hand->thread);
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

/* Returns false if a thread is left behind, so that the groups must stay. */
static bool restore_groups(struct gs_table *o, unsigned int branch, uint64_t begin,
			   struct group *groups, size_t n, struct gs_restored *ret)
{
	bool all = true;

	for (size_t i = 0; i < n; i++) {
		struct group *g = &groups[i];
		struct hand ours = { .g = g };

		g->o = o;
		g->branch = branch;
		g->begin = begin;
		g->progress_ns = gs_now_ns();
		pthread_mutex_init(&g->lock, NULL);
		ret->changed += (unsigned int)g->n;
		if (start(g)) /* without a new thread, restore here, one group after the other */
			restore_gpu(&ours);
	}
	for (size_t i = 0; i < n; i++) {
		if (!groups[i].hand || wait_for(&groups[i])) {
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
