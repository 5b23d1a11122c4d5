/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * hours - gives the GPU to a user at some times of the day
 *
 * Does: within a user's hours that user's TSGs have long slices, and those of all others a short
 * one. At other times all have the default. Hours that end before they begin go over midnight. Good
 * for: a machine that is one group's by day, and everybody's at night. Known weaknesses: hours are
 * those of UTC plus zone_s, without summer time. If somebody sets the clock, the policy follows
 * with its next round: within a second here. Programs that fill no slice gain little. No program is
 * kept off the GPU: see limit= for that.
 */
#include <gpusched/policy.bpf.h>

GPUSCHED_POLICY(hours, 1000000, 500, 0);
GPUSCHED_ABOUT("some hours of the day are one user's");

GPUSCHED_OPTION(gs_u32, uid, 0, "whose hours they are");
GPUSCHED_OPTION_RANGE(gs_u32, from_s, 28800, 0, 86400, "when they begin, seconds after midnight");
GPUSCHED_OPTION_RANGE(gs_u32, to_s, 64800, 0, 86400, "when they end");
GPUSCHED_OPTION_RANGE(gs_u32, zone_s, 0, 0, 86400, "local time is UTC plus so many seconds");
GPUSCHED_OPTION_RANGE(gs_u32, own_slice_us, 10000, 1000, 1000000, "slice of the user's TSGs, us");
GPUSCHED_OPTION_RANGE(gs_u32, other_slice_us, 1000, 1, 100000, "slice of others meanwhile, us");

#define DAY_S 86400

GPUSCHED_INLINE int is_time(void)
{
	gs_u64 now_s = gpusched_wall_ns() / 1000000000ull + zone_s;
	gs_u32 s = now_s % DAY_S;

	return from_s <= to_s ? s >= from_s && s < to_s : s >= from_s || s < to_s;
}

GPUSCHED_INLINE void give(struct gpusched_task *t)
{
	if (t->kind != GPUSCHED_KIND_COMPUTE || !is_time())
		gpusched_want_default(t, GPUSCHED_TIMESLICE);
	else
		gpusched_want_timeslice(t, t->uid == uid ? own_slice_us : other_slice_us);
}

GPUSCHED_TASK_INIT(t)
{
	give(t);
	return 0;
}

GPUSCHED_TICK(t, round)
{
	give(t);
	return 0;
}
