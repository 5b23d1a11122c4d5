/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * full - refuses newcomers while the GPU is full
 *
 * Does: denies a TSG that its owner schedules while the GPU worked for more than full_pct of the
 * last second. The owner's call fails, so the program ends with an error instead of making all
 * others slower. Good for: interactive machines on which a failed start is better than a slow one.
 * Known weaknesses: the driver's samples are up to 2 s old, so two programs that start in the same
 * second may both get in. One batch job alone fills a GPU, and then nobody else gets in. Where there
 * are no samples (MIG, some drivers), all are admitted. Policy admit lets newcomers wait instead.
 */
#include <gpusched/policy.bpf.h>

GPUSCHED_POLICY(full, 1000000, 200, GPUSCHED_F_DENY | GPUSCHED_F_FACTS);
GPUSCHED_ABOUT("refuses newcomers while the GPU is full");

GPUSCHED_OPTION_RANGE(gs_u32, full_pct, 95, 1, 100, "busy for more than this is full, percent");

/* Word of priv: 1: the TSG was admitted, or was there before the policy. */
#define ADMITTED 0

GPUSCHED_SCHEDULE(t)
{
	struct gpusched_gpu g;

	if (t->kind == GPUSCHED_KIND_COMPUTE && !t->priv[ADMITTED] && gpusched_gpu(t, &g) >= 0 &&
	    (g.known & GPUSCHED_GPU_BUSY) && g.busy_x100 > full_pct * 100)
		return GPUSCHED_DENY;
	t->priv[ADMITTED] = 1; /* each of its channels is scheduled separately */
	return GPUSCHED_ADMIT;
}

GPUSCHED_TICK(t, round)
{
	t->priv[ADMITTED] = 1;
	return 0;
}
