/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Counts its rounds in priv[0], rests after each, and wishes a slice of as many us as launches. */
#include "gpusched/policy.bpf.h"

GPUSCHED_POLICY(rests, 10000, 1000, 0);

GPUSCHED_TICK(t, round)
{
	t->priv[0]++;
	if (t->launches)
		gpusched_want_timeslice(t, (gs_u32)t->launches);
	return 0;
}

GPUSCHED_TICK_END(round)
{
	return 6000;
}
