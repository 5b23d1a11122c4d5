/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * edf - earliest deadline first
 *
 * Does: computes when each TSG with a deadline is due: its relative deadline, counted from the
 * moment at which it last began to work after being idle.
 *
 * At every tick, the busy compute TSG of a runlist that is due first gets a long timeslice, and the
 * others get short ones. So urgent work starts soon, and no slice ends in the middle of it. TSGs
 * without a deadline count as due last.
 *
 * TSGs with deadlines overload a GPU if, in the last second, they worked for more than overload_pct
 * of the time while others waited. The log then says so once, with the percentage.
 *
 * Good for: periodic work with deadlines of tens of milliseconds and more.
 *
 * Known weaknesses:
 *  - The policy orders TSGs at the tick (5 ms), not at each launch. Use lcbe for deadlines below
 *    about 20 ms.
 *  - A request begins with the first launch after idle time. Where launches are not seen, the
 *    policy assumes requests without pauses from the TSG's creation on, each as long as the
 *    deadline.
 *  - Where the daemon keeps no account of GPU time, a TSG that has launched nothing for busy_ms
 *    counts as idle, though its queue may be full. A request that launches all its work at once
 *    then loses its long slice. Set busy_ms above the GPU time of the longest request.
 *  - Overload is reported only where the daemon keeps that account. A TSG that is alone on the GPU
 *    causes no report, since the log does not show whether it works. Under overload all work may
 *    be late.
 */
#include "gpusched/policy.bpf.h"

GPUSCHED_POLICY(edf, 5000, 500, GPUSCHED_F_WORK | GPUSCHED_F_FACTS);
GPUSCHED_ABOUT("earliest deadline first");

GPUSCHED_OPTION_RANGE(gs_u32, first_slice_us, 100000, 1000, 10000000,
		      "timeslice of the TSG that is due first, us");
GPUSCHED_OPTION_RANGE(gs_u32, other_slice_us, 800, 1, 100000,
		      "timeslice of the others, us; at least 4 switch costs");
GPUSCHED_OPTION_RANGE(gs_u32, idle_us, 2000, 100, 1000000,
		      "a launch after this long without one begins a new request");
GPUSCHED_OPTION_RANGE(gs_u32, busy_ms, 20, 1, 60000,
		      "a TSG that has launched nothing for this long, and has no work, is idle");
GPUSCHED_OPTION_RANGE(gs_u32, overload_pct, 90, 20, 100,
		      "part of the GPU's time above which overload is told");

struct runlist {
	gs_u64 seq;
	gs_u64 due;                /* the earliest due time in this round */
	gs_u64 id;                 /* id of the TSG with this due time */
	gs_u64 used_ns, window_ns; /* work of TSGs with deadlines since window_ns */
	/* time up to which the log is known; 1: the present overload is already logged */
	gs_u64 as_of_ns, told;
};
GPUSCHED_MAP(edf_runlists, HASH, gs_u32, struct runlist, 256);
/* Buffer for facts, which are too large for the stack. */
GPUSCHED_MAP(edf_facts, ARRAY, gs_u32, struct gpusched_facts, 1);

/* Words of priv. */
#define BEGAN 0  /* when the present request began */
#define LAST 1   /* when work_submit saw the last launch */
#define WORKED 2 /* contended_ns of the facts at the last round */
#define SINCE 3  /* since_ns of those facts: if it has changed, WORKED cannot be compared */
#define WORK 4   /* the word that gpusched_is_busy() keeps */
#define NEVER ((gs_u64)-1)

GPUSCHED_INLINE gs_u64 due_of(const struct gpusched_task *t, gs_u64 now)
{
	gs_u64 span = t->deadline_us * 1000, began = t->priv[BEGAN];

	if (!(t->known & GPUSCHED_KNOWN_DEADLINE) || !span)
		return NEVER - 1;
	if (!(t->known & GPUSCHED_KNOWN_LAUNCHES))
		began = t->created_ns + gpusched_div(now - t->created_ns, span) * span;
	return began + span;
}

GPUSCHED_INLINE int is_busy(struct gpusched_task *t, gs_u64 now)
{
	return gpusched_is_busy(t, now, (gs_u64)busy_ms * 1000000ull, &t->priv[WORK]);
}

GPUSCHED_INLINE struct runlist *runlist_of(const struct gpusched_task *t)
{
	struct runlist fresh = { 0 };
	gs_u32 key = gpusched_runlist(t);

	return gpusched_lookup_or_add(edf_runlists, &key, &fresh);
}

/* Adds the work that @t did while others waited; the log shows no other work. */
GPUSCHED_INLINE void add_load(struct runlist *r, struct gpusched_task *t)
{
	gs_u32 zero = 0;
	struct gpusched_facts *f = gpusched_lookup(edf_facts, &zero);

	if (!f || !(t->known & GPUSCHED_KNOWN_DEADLINE) || gpusched_facts(t, f) < 0)
		return;
	if (t->priv[SINCE] == f->since_ns && f->contended_ns > t->priv[WORKED])
		r->used_ns += f->contended_ns - t->priv[WORKED];
	t->priv[SINCE] = f->since_ns;
	t->priv[WORKED] = f->contended_ns;
	if (f->as_of_ns > r->as_of_ns)
		r->as_of_ns = f->as_of_ns;
}

/* Once a second, checks the load, and logs an overload when it begins. */
GPUSCHED_INLINE void watch_load(struct runlist *r)
{
	gs_u64 span = r->as_of_ns - r->window_ns, pct;

	if (r->window_ns && span < 1000000000ull)
		return;
	pct = gpusched_div(r->used_ns * 100, span);
	if (!r->window_ns || pct + 20 <= overload_pct) {
		r->told = 0;
	} else if (pct >= overload_pct && !r->told) {
		gpusched_log("overload: deadlines may be missed; percent in all", pct);
		r->told = 1;
	}
	r->window_ns = r->as_of_ns;
	r->used_ns = 0;
}

GPUSCHED_WORK_SUBMIT(t, w)
{
	if (w->now_ns > t->priv[LAST] + (gs_u64)idle_us * 1000)
		t->priv[BEGAN] = w->now_ns;
	t->priv[LAST] = w->now_ns;
	return 0;
}

GPUSCHED_TICK_BEGIN(round)
{
	return 2;
}

GPUSCHED_TICK(t, round)
{
	struct runlist *r;
	gs_u64 due;

	if (t->kind != GPUSCHED_KIND_COMPUTE)
		return 0;
	r = runlist_of(t);
	if (!r)
		return 0;
	if (round->pass == 0) {
		if (r->seq != round->seq) {
			r->seq = round->seq;
			r->due = NEVER;
			r->id = 0;
			watch_load(r);
		}
		add_load(r, t);
		if (!is_busy(t, round->now_ns))
			return 0;
		due = due_of(t, round->now_ns);
		if (due < r->due || (due == r->due && t->id < r->id)) {
			r->due = due;
			r->id = t->id;
		}
		return 0;
	}
	/* no busy TSG has a deadline, so there is nothing to order */
	if (r->due >= NEVER - 1)
		gpusched_want_default(t, GPUSCHED_ALL_SETTINGS);
	else
		gpusched_want_timeslice(t, r->id == t->id ? first_slice_us : other_slice_us);
	return 0;
}
