/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Fails in a tick, while it runs. */
#include "gpusched/policy.bpf.h"

GPUSCHED_POLICY(fails_in_tick, 10000, 100, 0);

GPUSCHED_TASK_INIT(t)
{
	gpusched_want_timeslice(t, 777);
	return 0;
}

GPUSCHED_TICK_END(round)
{
	gpusched_log("round", round->seq);
	if (round->seq == 3)
		gpusched_fail(-42, "had enough");
	return 0;
}
