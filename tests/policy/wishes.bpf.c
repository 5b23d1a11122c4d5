/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Makes random wishes about every TSG, each for some ticks. */
#include "gpusched/policy.bpf.h"

GPUSCHED_POLICY(wishes, 10000, 1000, 0);

static gs_u64 mixed(gs_u64 z)
{
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

GPUSCHED_TICK(t, round)
{
	gs_u64 r = mixed((round->seq / 16 + 1) * 0x9e3779b97f4a7c15ull + t->id * 1000003);

	gpusched_want_runnable(t, r % 3 != 0);
	gpusched_want_timeslice(t, (gs_u32)1 << ((r >> 8) % 16));
	gpusched_want_interleave(t, (gs_u32)(r >> 16) % 3);
	gpusched_want_preempt_mode(t, (r >> 24) % 8 ? 2 : (gs_u32)(r >> 32) % 3);
	return 0;
}
