// SPDX-License-Identifier: MIT
/*
 * core_hold.c - suspends the BE TSGs of a runlist while a request of another TSG runs
 *
 * A hold is a wish of the policy for the TSG with the request. This file begins and ends it. The
 * nodes of the runlist that yield follow it like any other wish: each compares its settings with
 * the wanted ones. So no TSG stays suspended without a wish for that.
 *
 * Bounds, for any policy and program:
 *
 * - BE has a floor: FLOOR_PCT of all time. Held time adds to the time that BE is owed, and time
 *   without a hold pays it.
 * - A stretch, the time of a hold, is 500 ms at most. Then BE runs until the floor of this stretch
 *   is paid. If BE gets less than that between two holds, both belong to one stretch.
 * - BE can be paid in advance, up to its floor for one second (50 ms). While such time is left, the
 *   next stretch may begin at once. So BE is without the GPU for 1.5 s at most.
 * - If several TSGs hold a runlist, there is still one stretch and one floor.
 *
 * If a hold suspends a part of a job for more than 100 ms, the job pauses on its other runlists,
 * too, if another program could run there. It would only wait for its part. Such a pause does not
 * make a TSG's time off the GPU longer than 1 s.
 */
#include <stdlib.h>

#include "engine/core_hold.h"
#include "engine/core_priv.h"
#include "gpusched/policy_types.h"
#include "table/table.h"

#define STRETCH_NS (GPUSCHED_HOLD_MAX_US * NS_PER_US)
#define FLOOR_PCT 5
#define ADVANCE_NS (NS_PER_S / 100 * FLOOR_PCT)
/* When to try again if calls cost more than the whole budget: they may be cheaper by then. */
#define AGAIN_NS (250 * NS_PER_MS)
#define STEP_NS (100 * NS_PER_US)
#define SPREAD_NS (100 * NS_PER_MS)
#define SPREAD_MOST_NS NS_PER_S
#define RUN_INDEX 3u

/* ---- the floor ------------------------------------------------------------------------------- */

static void settle_floor(const struct gs_core *c, struct gs_runlist *rl, uint64_t now)
{
	const int64_t most = -(int64_t)gs_core_dilated(c, ADVANCE_NS);
	int64_t span = rl->owed_at && now > rl->owed_at ? (int64_t)(now - rl->owed_at) : 0;

	if (!rl->owed_at)
		rl->owed_ns = most;
	span -= span % 100; /* the remainder counts next time */
	rl->owed_at = rl->owed_at ? rl->owed_at + (uint64_t)span : now;
	if (rl->nholding) {
		rl->owed_ns += span / 100 * FLOOR_PCT;
		rl->stretch_ns += span;
		return;
	}
	rl->owed_ns -= span / 100 * (100 - FLOOR_PCT);
	if (rl->owed_ns < most)
		rl->owed_ns = most;
	rl->stretch_ns -= span / FLOOR_PCT * (100 - FLOOR_PCT);
	if (rl->stretch_ns < 0)
		rl->stretch_ns = 0;
}

/* Returns how long BE has to run until the floor of a stretch of @ns is paid. */
static uint64_t pay_for(int64_t ns)
{
	return ns > 0 ? (uint64_t)ns / (100 - FLOOR_PCT) * FLOOR_PCT + 1 : 0;
}

/* When a hold may begin: @now, or later. */
static uint64_t floor_paid_at(const struct gs_core *c, struct gs_runlist *rl, uint64_t now)
{
	uint64_t at = now, whole;

	settle_floor(c, rl, now);
	if (rl->owed_ns <= 0 && rl->stretch_ns > (int64_t)gs_core_dilated(c, STRETCH_NS / 2))
		rl->stretch_ns = 0; /* the floor is paid already */
	if (rl->owed_ns > 0)
		at += (uint64_t)rl->owed_ns / (100 - FLOOR_PCT) * 100 + 100;
	/* wait until half a stretch is free: a shorter hold is not worth its two calls */
	whole = now + pay_for(rl->stretch_ns - (int64_t)gs_core_dilated(c, STRETCH_NS / 2));
	if (at < whole)
		at = whole;
	return at < rl->pay_until ? rl->pay_until : at;
}

/* ---- begin and end --------------------------------------------------------------------------- */

static void wake_yielding(struct gs_core *c, struct gs_runlist *rl)
{
	for (struct gs_node *x = rl->first; x; x = x->rl_next)
		if (x->yields)
			gs_core_set_due(c, x, 1);
}

static void begin_hold(struct gs_core *c, struct gs_node *n, uint64_t now)
{
	struct gs_runlist *rl = n->runlist;

	settle_floor(c, rl, now);
	c->counters[GS_ENG_HOLDS]++;
	n->holding = true;
	n->hold_ns = now;
	n->hold_state = GPUSCHED_HOLD_ON;
	if (rl->nholding++)
		return;
	rl->holder = n;
	rl->held_ns = now;
	rl->held_until = now + gs_core_dilated(c, STRETCH_NS) - (uint64_t)rl->stretch_ns;
	rl->spread_at = now + gs_core_dilated(c, SPREAD_NS);
	wake_yielding(c, rl);
}

struct job {
	UT_hash_handle hh;
	uint64_t number;
};

static void add_job(struct job **jobs, uint64_t number)
{
	struct job *j = NULL;

	HASH_FIND(hh, *jobs, &number, sizeof(number), j);
	if (!j && (j = calloc(1, sizeof(*j)))) {
		j->number = number;
		HASH_ADD(hh, *jobs, number, sizeof(j->number), j);
	}
}

/* Holds the jobs that the hold of @rl has suspended on their other runlists, too. */
static void spread(struct gs_core *c, struct gs_runlist *rl)
{
	struct job *jobs = NULL, *j, *next;

	rl->spread_at = 0;
	for (struct gs_node *x = rl->first; x; x = x->rl_next)
		if (x->yields && x->job)
			add_job(&jobs, x->job);
	for (struct gs_node *n = jobs ? c->nodes : NULL; n; n = n->hh.next) {
		HASH_FIND(hh, jobs, &n->job, sizeof(n->job), j);
		if (!j || !n->yields || n->runlist == rl || n->held_with)
			continue;
		n->held_with = rl;
		gs_core_set_due(c, n, 1);
	}
	HASH_ITER(hh, jobs, j, next) {
		HASH_DEL(jobs, j);
		free(j);
	}
}

static void end_spread(struct gs_core *c, struct gs_runlist *rl)
{
	if (rl->spread_at) {
		rl->spread_at = 0;
		return;
	}
	for (struct gs_node *n = c->nodes; n; n = n->hh.next)
		if (n->held_with == rl) {
			n->held_with = NULL;
			gs_core_set_due(c, n, 1);
		}
}

static struct gs_node *another_holder(const struct gs_runlist *rl)
{
	struct gs_node *x = rl->first;

	while (x && !x->holding)
		x = x->rl_next;
	return x;
}

/* @over: the hold has used up its time. */
static void end_hold(struct gs_core *c, struct gs_node *n, bool over, uint64_t now)
{
	struct gs_runlist *rl = n->runlist;

	if (!n->holding)
		return;
	settle_floor(c, rl, now);
	n->holding = false;
	c->counters[GS_ENG_HOLDS_OVER] += over;
	rl->nholding--;
	if (rl->holder == n)
		rl->holder = another_holder(rl);
	if (rl->nholding)
		return;
	c->counters[GS_ENG_HOLD_NS] += now > rl->held_ns ? now - rl->held_ns : 0;
	if (over && rl->owed_ns > 0)
		rl->pay_until = now + pay_for(rl->stretch_ns);
	wake_yielding(c, rl);
	end_spread(c, rl);
}

static void put_off(struct gs_core *c, struct gs_node *n, enum gpusched_hold_state why,
		    enum gs_engine_counter counter, uint64_t until)
{
	c->counters[counter] += n->hold_state != why;
	n->hold_state = (uint8_t)why;
	n->hold_due = until;
}

static void try_hold(struct gs_core *c, struct gs_node *n, uint64_t now)
{
	struct gs_runlist *rl = n->runlist;
	uint64_t paid, wait;

	n->hold_due = 0;
	if (n->yields) {
		put_off(c, n, GPUSCHED_HOLD_YIELDS, GS_ENG_REFUSED_HOLD_YIELDS, 0);
		return;
	}
	if (!rl->nyield) { /* the first node that yields wakes the hold */
		n->hold_state = GPUSCHED_HOLD_NOBODY;
		return;
	}
	if (rl->nholding) {
		begin_hold(c, n, now);
		return;
	}
	paid = floor_paid_at(c, rl, now);
	/* two calls for each TSG: suspend and resume */
	wait = gs_budget_hold_wait(c, 2 * rl->nyield, now);
	if (paid > now)
		put_off(c, n, GPUSCHED_HOLD_FLOOR, GS_ENG_REFUSED_HOLD_FLOOR, paid + STEP_NS);
	else if (wait)
		put_off(c, n, GPUSCHED_HOLD_BUDGET, GS_ENG_REFUSED_HOLD_BUDGET,
			now + (wait == UINT64_MAX ? gs_core_dilated(c, AGAIN_NS) : wait));
	else
		begin_hold(c, n, now);
}

static uint64_t end_of(const struct gs_core *c, const struct gs_node *n)
{
	uint64_t units = n->hold_wish & GPUSCHED_HOLD_UNITS;
	uint64_t end = n->hold_ns + gs_core_dilated(c, units * GPUSCHED_HOLD_UNIT_US * NS_PER_US);

	return end < n->runlist->held_until ? end : n->runlist->held_until;
}

/* ---- what the policy wishes ------------------------------------------------------------------ */

static bool may_wish(const struct gs_core *c, const struct gpusched_tsg *rec)
{
	return c->policy_active && rec->task.kind == GPUSCHED_KIND_COMPUTE &&
	       !(rec->flags & GPUSCHED_TSG_GONE) && !gpusched_is_apart(rec);
}

static void follow_yield(struct gs_core *c, struct gs_node *n, const struct gpusched_tsg *rec)
{
	const struct gpusched_task *t = &rec->task;
	struct gs_runlist *rl = n->runlist;
	/* nothing can run in a TSG without channels */
	bool yields = may_wish(c, rec) && !(rec->flags & GPUSCHED_TSG_EMPTY) &&
		      t->class_id != GPUSCHED_CLASS_LC &&
		      (t->class_id == GPUSCHED_CLASS_BE || (t->want.valid & GPUSCHED_WANT_YIELD));

	if (n->yields == yields)
		return;
	n->yields = yields;
	rl->nyield += yields ? 1 : -1u;
	if (!yields || rl->nyield > 1)
		return;
	for (struct gs_node *x = rl->first; x; x = x->rl_next)
		if (x->hold_state == GPUSCHED_HOLD_NOBODY)
			gs_core_set_due(c, x, 1);
}

/*
 * Returns the hold that the policy wishes for this TSG; 0: none. A hold of no time counts as none.
 */
static uint8_t wish_of(const struct gs_core *c, const struct gpusched_tsg *rec)
{
	const struct gpusched_settings *want = &rec->task.want;

	return may_wish(c, rec) && (want->valid & GPUSCHED_WANT_HOLD) &&
			       (want->hold & GPUSCHED_HOLD_UNITS)
		       ? want->hold
		       : 0;
}

void gs_hold_follow(struct gs_core *c, struct gs_node *n, const struct gpusched_tsg *rec,
		    uint64_t now)
{
	uint8_t wish = wish_of(c, rec), was = n->hold_wish;

	if (!n->runlist) /* there was no memory for the runlist */
		return;
	follow_yield(c, n, rec);
	n->hold_wish = wish;
	if (!wish || !was || ((wish ^ was) & GPUSCHED_HOLD_FLIP)) {
		if (n->holding && now >= n->hold_due)
			end_hold(c, n, true, now);
		end_hold(c, n, false, now);
		n->hold_state = GPUSCHED_HOLD_NONE;
		n->hold_due = 0;
	}
	if (!wish)
		return;
	if (!n->holding && n->hold_state != GPUSCHED_HOLD_OVER)
		try_hold(c, n, now);
	if (n->holding)
		n->hold_due = end_of(c, n);
	if (n->holding && (now >= n->hold_due || n->yields)) {
		end_hold(c, n, now >= n->hold_due, now);
		n->hold_state = GPUSCHED_HOLD_OVER;
		n->hold_due = 0;
	}
	if (n->holding && n->runlist->spread_at && now >= n->runlist->spread_at)
		spread(c, n->runlist);
	if (n->hold_due)
		gs_core_set_due(c, n, n->hold_due);
}

void gs_hold_leave(struct gs_core *c, struct gs_node *n)
{
	struct gs_runlist *rl = n->runlist;

	/* the present time is not known here, so the hold counts up to the last evaluation only */
	end_hold(c, n, false, rl->owed_at);
	rl->nyield -= n->yields;
	n->yields = false;
	n->hold_state = GPUSCHED_HOLD_NONE;
	n->hold_due = 0;
	n->hold_wish = 0;
}

/* ---- TSGs that yield to holds ---------------------------------------------------------------- */

/* True if TSGs of another job may have work on the node's runlist. */
static bool has_others(const struct gs_node *n)
{
	for (const struct gs_node *x = n->runlist->first; x; x = x->rl_next)
		if (x->work && x->job != n->job)
			return true;
	return false;
}

/* Finds the hold that suspends the node: of its own runlist, or of one with a part of its job. */
static const struct gs_runlist *held_by(const struct gs_core *c, struct gs_node *n,
					const struct gpusched_tsg *rec, uint64_t now)
{
	const struct gs_runlist *with = n->held_with;
	bool off = rec->suspend_by == GPUSCHED_BY_REQUEST && rec->suspended_ns;

	if (!n->runlist || !n->yields)
		return NULL;
	if (n->runlist->nholding && now < n->runlist->held_until)
		return n->runlist;
	if (off && now >= rec->suspended_ns + gs_core_dilated(c, SPREAD_MOST_NS))
		n->held_with = NULL; /* until the next hold */
	return with && n->held_with && now < with->held_until && has_others(n) ? with : NULL;
}

void gs_hold_obey(struct gs_core *c, struct gs_node *n, const struct gpusched_tsg *rec, bool whole,
		  uint64_t now, struct gs_goal *t)
{
	const struct gs_runlist *rl = held_by(c, n, rec, now);
	bool was = n->unable;
	uint64_t most;

	if (n->hold_due) /* gs_hold_follow() set it before gs_core_compare() cleared n->due */
		gs_core_set_due(c, n, n->hold_due);
	if (n->holding && n->runlist->spread_at)
		gs_core_set_due(c, n, n->runlist->spread_at);
	n->unable = false;
	if (!rl || !t->set.runnable || gs_at_gate(rec))
		return;
	n->unable = !whole || ((rec->task.assumed & GPUSCHED_RUNNABLE) &&
			       !(c->policy_flags & GPUSCHED_F_ASSUMED));
	c->counters[GS_ENG_HOLD_UNABLE] += n->unable && !was;
	gs_core_set_due(c, n, rl->held_until);
	most = rec->suspended_ns + gs_core_dilated(c, SPREAD_MOST_NS);
	if (rl == n->held_with && rec->suspended_ns && most > now)
		gs_core_set_due(c, n, most);
	if (n->unable)
		return;
	t->set.runnable = 0;
	t->src[RUN_INDEX] = GS_SRC_REQUEST;
}

void gs_hold_note(const struct gs_core *c, const struct gs_node *n, bool held,
		  struct gpusched_poke *p)
{
	uint8_t state = n->hold_state;

	if (held)
		state = GPUSCHED_HOLD_HELD;
	else if (n->unable)
		state = GPUSCHED_HOLD_UNABLE;
	if (p->rec.task.is.hold == state)
		return;
	p->what |= GPUSCHED_POKE_IS;
	p->rec.task.is.hold = state;
}

uint32_t gs_hold_overrules(const struct gs_node *n)
{
	static const uint32_t bits[GPUSCHED_HOLD_STATE_MAX] = {
		[GPUSCHED_HOLD_OVER] = 1u << GS_OVERRULE_HOLD_OVER,
		[GPUSCHED_HOLD_FLOOR] = 1u << GS_OVERRULE_HOLD_FLOOR,
		[GPUSCHED_HOLD_BUDGET] = 1u << GS_OVERRULE_HOLD_BUDGET,
		[GPUSCHED_HOLD_YIELDS] = 1u << GS_OVERRULE_HOLD_YIELDS,
	};

	return bits[n->hold_state] | (uint32_t)n->unable << GS_OVERRULE_HOLD_UNABLE;
}

uint64_t gs_core_holder(const struct gs_core *c, const struct gpusched_tsg *rec)
{
	const struct gs_node *n = NULL;

	HASH_FIND(hh, c->nodes, &rec->key, sizeof(rec->key), n);
	if (n && n->runlist && !n->runlist->holder && n->held_with && n->held_with->holder)
		return n->held_with->holder->id;
	return n && n->runlist && n->runlist->holder ? n->runlist->holder->id : 0;
}
