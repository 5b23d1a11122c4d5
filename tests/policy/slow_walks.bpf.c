/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Walks of the table, in schedule or in each round, that take longer than the timeout where the
 * machine is slow; quick to verify, other than slow_tick.
 */
#include "gpusched/policy.bpf.h"

/* Its rounds come so late that the walk in schedule is the first one to be stopped. */
GPUSCHED_POLICY(slow_walks, 10000000, 10, 0);

GPUSCHED_OPTION_RANGE(gs_u32, in_tick, 0, 0, 1, "1: in each round; 0: in schedule");

GPUSCHED_INLINE gs_u64 walk(void)
{
	struct gpusched_filter all = {};
	gs_u64 n = 0;
	gs_u32 i;

	for (i = 0; i < 32; i++)
		n += (gs_u64)gpusched_count(&all);
	return n;
}

GPUSCHED_TASK_INIT(t)
{
	gpusched_want_timeslice(t, 555);
	if (in_tick)
		gpusched_kick();
	return 0;
}

GPUSCHED_SCHEDULE(t)
{
	if (!in_tick)
		t->priv[0] = walk();
	return GPUSCHED_ADMIT;
}

GPUSCHED_TICK_END(round)
{
	return in_tick && walk() > 1000000 ? 1 : 0;
}
