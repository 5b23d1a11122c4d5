/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Calls itself until its stack is full; for the native host, which has no verifier. */
#include "gpusched/policy.bpf.h"

GPUSCHED_POLICY(deep, 10000, 1000, 0);

GPUSCHED_OPTION_RANGE(gs_u32, depth, 200000, 1, 1000000, "how deep");

static __attribute__((noinline)) gs_u32 descend(volatile gs_u32 *above, gs_u32 n)
{
	volatile gs_u32 here[256];

	here[n & 255] = *above + 1;
	return n ? descend(&here[n & 255], n - 1) + here[0] : here[0];
}

GPUSCHED_TASK_INIT(t)
{
	volatile gs_u32 zero = 0;

	t->priv[0] = descend(&zero, depth);
	return 0;
}
