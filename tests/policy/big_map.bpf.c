/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* More memory than a policy may take. */
#include "gpusched/policy.bpf.h"

GPUSCHED_POLICY(big_map, 0, 100, 0);

GPUSCHED_MAP(hoard, ARRAY, gs_u32, gs_u64, 100000000);

GPUSCHED_TASK_INIT(t)
{
	gs_u32 zero = 0;
	gs_u64 *v = gpusched_lookup(hoard, &zero);

	if (v)
		*v = t->id;
	return 0;
}
