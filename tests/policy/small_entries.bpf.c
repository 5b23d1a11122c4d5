/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Has a map with entries of two bytes, for which the kernel uses eighty. */
#include "gpusched/policy.bpf.h"

GPUSCHED_POLICY(small_entries, 0, 100, 0);

GPUSCHED_MAP(grains, HASH, gs_u8, gs_u8, 20000000);

GPUSCHED_TASK_INIT(t)
{
	gs_u8 key = 0, *v = gpusched_lookup(grains, &key);

	if (v)
		*v = 1;
	return 0;
}
