/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Makes a different wish at every tick. */
#include "gpusched/policy.bpf.h"

GPUSCHED_POLICY(flips, 1000, 100, 0);

GPUSCHED_TICK(t, round)
{
	gpusched_want_timeslice(t, round->seq & 1 ? 1000 : 2000);
	gpusched_want_interleave(t, (gs_u32)(round->seq & 1) * 2);
	return 0;
}
