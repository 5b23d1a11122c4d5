/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Nests loops by a helper; the verifier does not multiply their bounds. */
#include "gpusched/policy.bpf.h"

GPUSCHED_POLICY(loop_helper, 10000, 100, 0);

static long inner(gs_u32 i, gs_u64 *sum)
{
	*sum += i;
	return 0;
}

static long outer(gs_u32 i, gs_u64 *sum)
{
	(void)i;
	bpf_loop(1 << 23, inner, sum, 0);
	return 0;
}

GPUSCHED_TICK(t, round)
{
	gs_u64 sum = 0;

	bpf_loop(1 << 23, outer, &sum, 0);
	t->priv[0] = sum;
	return 0;
}
