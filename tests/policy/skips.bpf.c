/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Takes one round of eight and skips the others, which is not the same as an empty table. */
#include "gpusched/policy.bpf.h"

GPUSCHED_POLICY(skips, 10000, 100, 0);

GPUSCHED_TICK_BEGIN(round)
{
	return round->seq % 8 == 0;
}

GPUSCHED_TICK(t, round)
{
	gpusched_want_timeslice(t, (gs_u32)round->seq);
	return 0;
}
