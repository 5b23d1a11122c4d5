/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* A callback and its function take more of the stack together than the host leaves them. */
#include "gpusched/policy.bpf.h"

GPUSCHED_POLICY(big_stack, 5000, 500, 0);

#define WORDS 20 /* 160 bytes, which would be fine in one function alone */

static __attribute__((noinline)) int fill(volatile gs_u64 *up)
{
	volatile gs_u64 mine[WORDS];

	for (int i = 0; i < WORDS; i++)
		mine[i] = 0;
	mine[WORDS - 1] = *up;
	return (int)(mine[0] + mine[WORDS - 1]);
}

GPUSCHED_TICK(t, round)
{
	volatile gs_u64 mine[WORDS];

	for (int i = 0; i < WORDS; i++)
		mine[i] = 1;
	if (fill(mine) == 1)
		gpusched_want_timeslice(t, 1000);
	return 0;
}
