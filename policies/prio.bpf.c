/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * prio - strict priorities by class, with ageing
 *
 * Does: sorts the compute TSGs of a runlist into four levels: lc; normal and none; the
 * configuration's own classes; be.
 *
 * While any TSG of a higher level is busy, those of lower levels are suspended. A TSG that has been
 * suspended for age_ms runs for one age_run_ms beside the higher ones, so that none starves.
 *
 * Where requests of an lc TSG are told, it is busy during a request and no longer. The request holds
 * the lower levels off at once, and they go on as soon as it ends. Until the suspension takes
 * effect, and where none is allowed, they have short slices. A request that outlasts its hold counts
 * like other work. Requests are told by hints, by the agent (gpusched run --agent), or by launches
 * while these are counted.
 *
 * Copy engines are left alone. Root may give a single TSG another level while the policy runs. The
 * map prio_levels takes the TSG's id and a number from 0 (as be) to 3 (as lc).
 *
 * Good for: batch work that may use only the time that others leave, and for which waits of seconds
 * do not matter.
 *
 * Known weaknesses:
 *  - If nobody tells a service's requests, it counts as busy for 150 ms and more after each of them.
 *    With more than some 7 requests a second, the lower levels run by ageing alone, and most of the
 *    GPU's time is left unused. The log says so. Start such a service with gpusched run --agent.
 *  - Without told requests, the policy reacts at the tick (10 ms), not at the launch. So the first
 *    requests after a pause of the higher level find lower levels on the GPU. Use lcbe for latency.
 *  - If a TSG is alone on the GPU and launches nothing, it is unknown whether it still works on
 *    what it has queued. So lower levels run now and then, for some 40 ms, to find out, and the
 *    policy learns from that how long to wait. Where GPU time is not known, lower levels run until
 *    the next launch of the higher one. There, set idle_ms above the longest time that such a TSG
 *    works without launching.
 *  - Where launches are not seen either, a TSG of a higher level counts as busy for as long as it
 *    exists. Lower levels then run by ageing alone.
 *  - A suspended program stands still, but its GPU memory stays occupied.
 */
#include "gpusched/policy.bpf.h"

GPUSCHED_POLICY(prio, 10000, 500, GPUSCHED_F_WORK | GPUSCHED_F_FACTS);
GPUSCHED_ABOUT("strict priorities by class, with ageing");

GPUSCHED_OPTION_RANGE(gs_u32, idle_ms, 50, 1, 60000,
		      "a TSG that has launched nothing for this long, and has no work, is idle");
GPUSCHED_OPTION_RANGE(gs_u32, age_ms, 1900, 10, 1900,
		      "longest wait before a suspended TSG may run");
GPUSCHED_OPTION_RANGE(gs_u32, age_run_ms, 50, 10, 1000, "how long it then runs");

struct runlist {
	gs_u64 seq;
	gs_u32 gathering; /* highest level with a busy TSG in round @seq, + 1; 0: none */
	gs_u32 lower;     /* TSGs of class lc are not among these */
	gs_u32 told;      /* 1: an lc TSG's requests are told */
	gs_u32 by_hand;   /* 1: root has set a level: holds go by class alone, so there are none */
	gs_u64 untold;    /* id of that busy TSG, if its requests are not told */
	gs_u64 kept_off;  /* grows while an untold TSG keeps others off, else shrinks */
	gs_u32 off;       /* 1: TSGs of lower levels are off */
	gs_u32 said;      /* 1: the log says so; until @kept_off is 0 */
};
GPUSCHED_MAP(prio_runlists, HASH, gs_u32, struct runlist, 256);

/* Words of priv. */
#define SUSPENDED_SINCE 0 /* 0: the TSG is not suspended */
#define RUNS_UNTIL 1      /* until when an aged TSG may run beside higher levels */
#define WORK 2            /* used by gpusched_is_busy() */
#define TOLD 3            /* enum told */

enum told { NOT_TOLD, RESTS, IN_REQUEST };

#define MUCH 100 /* ticks */

#define LC_SLICE_US 1000000
/* One TSG loses nothing by a slice this short; of several, each has four times the cost of a switch. */
#define ONE_SLICE_US 1
#define MULTI_SLICE_US 800

/* Levels that root sets for single TSGs: gpusched policy map prio_levels ID LEVEL */
GPUSCHED_MAP(prio_levels, HASH, gs_u64, gs_u32, 1024);

GPUSCHED_INLINE gs_u32 level_of(const struct gpusched_task *t)
{
	gs_u64 id = t->id;
	const gs_u32 *level = gpusched_lookup(prio_levels, &id);

	if (level)
		return *level < 3 ? *level : 3;
	switch (t->class_id) {
	case GPUSCHED_CLASS_LC:
		return 3;
	case GPUSCHED_CLASS_NONE:
	case GPUSCHED_CLASS_NORMAL:
		return 2;
	case GPUSCHED_CLASS_BE:
		return 0;
	default:
		return 1;
	}
}

GPUSCHED_INLINE int is_told(const struct gpusched_task *t)
{
	return t->class_id == GPUSCHED_CLASS_LC && t->priv[TOLD] != NOT_TOLD;
}

/*
 * True in a request that keeps lower levels off by no hold. The hold may be over, or wait until best
 * effort has had its floor.
 */
GPUSCHED_INLINE int outlasts_hold(const struct gpusched_task *t)
{
	gs_u32 state = gpusched_hold_state(t);

	return t->priv[TOLD] == IN_REQUEST &&
	       (!(t->want.valid & GPUSCHED_WANT_HOLD) || state == GPUSCHED_HOLD_OVER ||
		state == GPUSCHED_HOLD_FLOOR);
}

GPUSCHED_INLINE int is_busy(struct gpusched_task *t, gs_u64 now)
{
	if (is_told(t))
		return outlasts_hold(t);
	return gpusched_is_busy(t, now, (gs_u64)idle_ms * 1000000ull, &t->priv[WORK]);
}

GPUSCHED_INLINE struct runlist *runlist_of(const struct gpusched_task *t)
{
	struct runlist fresh = { 0 };
	gs_u32 key = gpusched_runlist(t);

	return gpusched_lookup_or_add(prio_runlists, &key, &fresh);
}

/* A TSG that a hold takes before it ran has waited since it was suspended. */
GPUSCHED_INLINE void let_run(struct gpusched_task *t)
{
	gpusched_want_default(t, GPUSCHED_RUNNABLE);
	if (!gpusched_is_suspended(&t->is) && gpusched_hold_state(t) != GPUSCHED_HOLD_HELD)
		t->priv[SUSPENDED_SINCE] = 0;
}

/* Says once that lower levels are off for more than half of the time for want of told requests. */
GPUSCHED_INLINE void note_untold(struct runlist *r)
{
	if (r->untold && r->off)
		r->kept_off += r->kept_off < 2 * MUCH;
	else if (r->kept_off)
		r->kept_off--;
	if (!r->kept_off)
		r->said = 0;
	if (r->kept_off < MUCH || r->said)
		return;
	r->said = 1;
	gpusched_log("not lc, or its requests are not told: keeps others off; TSG", r->untold);
}

GPUSCHED_INLINE void hold_back(struct gpusched_task *t, struct runlist *r, gs_u64 now)
{
	if (now < t->priv[RUNS_UNTIL]) {
		let_run(t);
		return;
	}
	if (!t->priv[SUSPENDED_SINCE])
		t->priv[SUSPENDED_SINCE] = now;
	if (now >= t->priv[SUSPENDED_SINCE] + (gs_u64)age_ms * 1000000ull) {
		t->priv[RUNS_UNTIL] = now + (gs_u64)age_run_ms * 1000000ull;
		let_run(t);
		return;
	}
	gpusched_want_runnable(t, 0);
	r->off = 1;
}

/*
 * Short slices serve a request until the hold takes effect, and beside it what it cannot suspend.
 * Beside an lc TSG that is busy without a hold, ageing would give nothing with them.
 */
GPUSCHED_INLINE void want_slice(struct gpusched_task *t, const struct runlist *r)
{
	int lower = t->class_id != GPUSCHED_CLASS_LC;

	gpusched_yield(t, lower && r->told && !r->by_hand);
	if (!r->told || r->by_hand || r->gathering > 3 || (!lower && !is_told(t)))
		gpusched_want_default(t, GPUSCHED_TIMESLICE);
	else if (!lower)
		gpusched_want_timeslice(t, LC_SLICE_US);
	else
		gpusched_want_timeslice(t, r->lower > 1 ? MULTI_SLICE_US : ONE_SLICE_US);
	if (lower || r->by_hand)
		gpusched_release(t);
}

GPUSCHED_REQUEST_BEGIN(t, w)
{
	struct runlist *r = runlist_of(t);

	t->priv[TOLD] = IN_REQUEST;
	if (r && !r->by_hand && t->class_id == GPUSCHED_CLASS_LC)
		gpusched_hold(t, GPUSCHED_HOLD_MAX_US);
	return 0;
}

GPUSCHED_REQUEST_END(t, w)
{
	t->priv[TOLD] = RESTS;
	gpusched_release(t);
	return 0;
}

GPUSCHED_TASK_DESTROY(t)
{
	gs_u64 id = t->id;

	gpusched_delete(prio_levels, &id);
	return 0;
}

GPUSCHED_TICK_BEGIN(round)
{
	return 2;
}

GPUSCHED_TICK(t, round)
{
	gs_u64 id = t->id;
	struct runlist *r;

	if (t->kind != GPUSCHED_KIND_COMPUTE)
		return 0;
	r = runlist_of(t);
	if (!r)
		return 0;
	if (round->pass == 0) {
		if (r->seq != round->seq) {
			note_untold(r);
			r->seq = round->seq;
			r->gathering = 0;
			r->untold = 0;
			r->off = 0;
			r->lower = 0;
			r->told = 0;
			r->by_hand = 0;
		}
		r->lower += t->class_id != GPUSCHED_CLASS_LC;
		r->told |= is_told(t);
		r->by_hand |= gpusched_lookup(prio_levels, &id) != 0;
		/*
		 * a suspended TSG cannot show whether it is busy, so it must not hold back other
		 * TSGs
		 */
		if (is_busy(t, round->now_ns) && level_of(t) + 1 > r->gathering &&
		    !t->priv[SUSPENDED_SINCE]) {
			r->gathering = level_of(t) + 1;
			r->untold = is_told(t) ? 0 : t->id;
		}
		return 0;
	}
	want_slice(t, r);
	if (level_of(t) + 1 >= r->gathering)
		let_run(t);
	else
		hold_back(t, r, round->now_ns);
	return 0;
}
