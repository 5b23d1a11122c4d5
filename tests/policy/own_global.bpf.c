/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Has a global function of its own, which the verifier would count separately. */
#include "gpusched/policy.bpf.h"

GPUSCHED_POLICY(own_global, 0, 100, 0);

int helper_of_mine(gs_u32 n);
__attribute__((noinline)) int helper_of_mine(gs_u32 n)
{
	return (int)n + 1;
}

GPUSCHED_TASK_INIT(t)
{
	t->priv[0] = (gs_u64)helper_of_mine(t->pid);
	return 0;
}
