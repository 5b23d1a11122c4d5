/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Holds at every schedule, and admits at every timeslice; its tick writes at the same time. */
#include "gpusched/policy.bpf.h"

GPUSCHED_POLICY(holds, 10000000, 1000, 0);

GPUSCHED_SCHEDULE(t)
{
	t->priv[0]++;
	return GPUSCHED_HOLD;
}

GPUSCHED_TIMESLICE_SET(t, us)
{
	gpusched_admit(t);
	return 0;
}

GPUSCHED_TICK(t, round)
{
	t->priv[1]++;
	gpusched_want_timeslice(t, 1000 + (gs_u32)(t->priv[1] & 1));
	return 0;
}
