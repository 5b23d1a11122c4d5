/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* A tick every 10 s; launches, and slices that owners set, ask for a round. priv[0]: rounds. */
#include "gpusched/policy.bpf.h"

GPUSCHED_POLICY(kicks, 10000000, 1000, GPUSCHED_F_WORK);

GPUSCHED_TIMESLICE_SET(t, us)
{
	gpusched_kick();
	return 0;
}

GPUSCHED_WORK_SUBMIT(t, w)
{
	gpusched_kick();
	return 0;
}

GPUSCHED_TICK(t, round)
{
	t->priv[0]++;
	return 0;
}

GPUSCHED_TICK_END(round)
{
	return 30000;
}
