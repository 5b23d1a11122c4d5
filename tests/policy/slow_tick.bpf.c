/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Its round takes far longer than the timeout, which the watchdog notices. */
#include "gpusched/policy.bpf.h"

GPUSCHED_POLICY(slow_tick, 10000, 10, 0);

GPUSCHED_TASK_INIT(t)
{
	gpusched_want_timeslice(t, 555);
	return 0;
}

GPUSCHED_TICK(t, round)
{
	gs_u64 x = round->now_ns;
	gs_u32 i;

	for (i = 0; i < 100000; i++) {
		x = x * 31 + i;
		__asm__ volatile("" : "+r"(x));
	}
	t->priv[0] = x;
	return 0;
}

GPUSCHED_EXIT(reason)
{
	gpusched_log("exit was called", reason);
	return 0;
}
