// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* Takes long over a TSG's end, so that others come meanwhile, and fails if one ends twice. */
#include <gpusched/policy.bpf.h>

GPUSCHED_POLICY(ends, 0, 1000, 0);

GPUSCHED_MAP(ends_of, HASH, gs_u64, gs_u32, 65536);

GPUSCHED_TASK_INIT(t)
{
	gs_u32 none = 0;
	gs_u64 id = t->id;

	gpusched_update(ends_of, &id, &none);
	return 0;
}

GPUSCHED_TASK_DESTROY(t)
{
	gs_u64 id = t->id;
	gs_u32 *n = gpusched_lookup(ends_of, &id), i;

	if (!n || __sync_fetch_and_add(n, 1)) {
		gpusched_fail(-1, "a TSG ended that had ended, or never began");
		return 0;
	}
	for (i = 0; i < 60000; i++)
		gpusched_now();
	return 0;
}
