/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * limit.h - keeps a group of TSGs to its limit, a part of a runlist's time, by pausing the group
 *
 * These functions use no map, clock or helper. A policy keeps one struct gpusched_throttle for each
 * group and runlist, calls gpusched_throttle() with it in each round, and suspends the group's TSGs
 * while that function returns 1.
 *
 * The policy learns late how much GPU time a group has used, since the GPU's log is up to 100 ms
 * old. Until the log's records come, a group that may run counts as running, so that no group gains
 * by the delay. When they come, the group gets back the time in which it did not run. A suspended
 * TSG may stay loaded while no other TSG is ready: that time does not count as used. A group can
 * save up some milliseconds of unused time, and more while the log is late (below).
 */
#ifndef GPUSCHED_LIMIT_H
#define GPUSCHED_LIMIT_H

#include "gpusched/abi.h"

#ifndef GPUSCHED_INLINE
#define GPUSCHED_INLINE __attribute__((unused)) static inline
#endif

/* A group runs and pauses about once in this period, which takes two calls to the driver. */
#define GPUSCHED_LIMIT_PERIOD_NS 150000000ull
/*
 * The most unused time that a group may save up beyond @swing (see gpusched_throttle()): one round
 * of the tick, so that time unused between two rounds is not lost. While the log is late the group
 * may save up more, since some of the time that counts as used may turn out to be unused.
 */
#define GPUSCHED_LIMIT_SAVED_NS 10000000ull
/* The history of @ran_ns that is kept for a late log: this many slots, each of this length. */
#define GPUSCHED_LIMIT_SLOTS 32u
#define GPUSCHED_LIMIT_SLOT_NS 8000000ull

struct gpusched_throttle {
	gs_u64 now_ns;                       /* time of the last round; 0: there was none */
	gs_u64 used_ns;                      /* the group's GPU time, as far as the log shows it */
	gs_u64 ran_ns;                       /* how long the group was free to run so far */
	gs_u64 ran_of[GPUSCHED_LIMIT_SLOTS]; /* @ran_ns at the start of recent slots of time */
	gs_u64 allowed_ns;                   /* the GPU time that the limit has allowed so far */
	gs_u32 paused, pad;
};

/* The facts of a round that gpusched_throttle() needs. */
struct gpusched_throttle_round {
	gs_u64 now_ns;
	gs_u64 as_of_ns;  /* the time to which the log reaches */
	gs_u64 used_ns;   /* the group's GPU time that the log has shown since the last round */
	gs_u32 may_run;   /* 1: at least one of the group's TSGs was not suspended */
	gs_u32 pct;       /* the group's limit, percent of the runlist's time */
	gs_u64 period_ns; /* of running and pausing; 0: GPUSCHED_LIMIT_PERIOD_NS */
};

/* True if the log is recent enough: @ran_of still has a slot for the time to which it reaches. */
GPUSCHED_INLINE int gpusched_throttle_knows(const struct gpusched_throttle_round *r)
{
	return r->as_of_ns <= r->now_ns &&
	       r->now_ns - r->as_of_ns < GPUSCHED_LIMIT_SLOT_NS * (GPUSCHED_LIMIT_SLOTS - 1);
}

/* Returns @ran_ns as it was at @as_of_ns, the time to which the log reaches. */
GPUSCHED_INLINE gs_u64 gpusched_throttle_then(const struct gpusched_throttle *x,
					      const struct gpusched_throttle_round *r)
{
	return x->ran_of[(r->as_of_ns / GPUSCHED_LIMIT_SLOT_NS) & (GPUSCHED_LIMIT_SLOTS - 1)];
}

/*
 * Adds the time since the last round to @ran_ns if the group was free to run, and fills the slots
 * that began since then.
 */
GPUSCHED_INLINE void gpusched_throttle_ran(struct gpusched_throttle *x,
					   const struct gpusched_throttle_round *r)
{
	gs_u64 passed = r->now_ns - x->now_ns, slot = x->now_ns / GPUSCHED_LIMIT_SLOT_NS;
	gs_u64 end = r->now_ns / GPUSCHED_LIMIT_SLOT_NS;
	unsigned int i;

	if (r->may_run)
		x->ran_ns += passed;
	for (i = 0; i < GPUSCHED_LIMIT_SLOTS && slot < end; i++) {
		slot++;
		x->ran_of[slot & (GPUSCHED_LIMIT_SLOTS - 1)] = x->ran_ns;
	}
}

/*
 * Returns 1 if the group must pause until the next round. The group pauses when its use is @swing
 * above the allowed time, and runs again @swing below it, so that it does not switch in each round.
 */
GPUSCHED_INLINE int gpusched_throttle(struct gpusched_throttle *x,
				      const struct gpusched_throttle_round *r)
{
	gs_u64 period = r->period_ns ? r->period_ns : GPUSCHED_LIMIT_PERIOD_NS;
	gs_u64 swing = period / 2 * r->pct / 100 * (100 - r->pct) / 100;
	gs_u64 used, then, most = GPUSCHED_LIMIT_SAVED_NS;

	if (!x->now_ns || r->now_ns < x->now_ns ||
	    r->now_ns > x->now_ns + 20 * GPUSCHED_LIMIT_PERIOD_NS) {
		x->now_ns = r->now_ns;
		x->allowed_ns = x->ran_ns;
		x->used_ns = x->ran_ns;
		x->paused = 0;
		return 0;
	}
	gpusched_throttle_ran(x, r);
	x->allowed_ns += (r->now_ns - x->now_ns) * r->pct / 100;
	x->used_ns += r->used_ns;
	x->now_ns = r->now_ns;
	used = x->used_ns;
	if (gpusched_throttle_knows(r)) {
		then = gpusched_throttle_then(x, r);
		/* Use beyond the free time: the group was loaded while it was suspended. */
		if (used > then + GPUSCHED_LIMIT_SLOT_NS)
			used = x->used_ns = then;
		used += x->ran_ns - then;
		most += (r->now_ns - r->as_of_ns) * (100 - r->pct) / 100;
	}
	if (x->allowed_ns > used + swing + most)
		x->allowed_ns = used + swing + most;
	if (used > x->allowed_ns + swing)
		x->paused = 1;
	else if (used + swing <= x->allowed_ns)
		x->paused = 0;
	return (int)x->paused;
}

#endif /* GPUSCHED_LIMIT_H */
