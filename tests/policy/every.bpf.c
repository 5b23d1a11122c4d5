// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Holds its host to it that it sees each launch once: of a program that launches in one thread the
 * count goes up by one from call to call. Logs at its end how many it saw.
 */
#include <gpusched/policy.bpf.h>

GPUSCHED_POLICY(every, 0, 100, GPUSCHED_F_WORK);

GPUSCHED_OPTION_RANGE(gs_u32, slice_us, 700, 1, 100000, "timeslice of compute TSGs");

enum { KERNELS, GRAPHS, KINDS };

GPUSCHED_MAP(every_last, HASH, gs_u64, gs_u64, 4096); /* each TSG's count at the last call */
GPUSCHED_MAP(every_seen, ARRAY, gs_u32, gs_u64, KINDS);

GPUSCHED_INLINE void add_one(gs_u32 what)
{
	gs_u64 *n = gpusched_lookup(every_seen, &what);

	if (n)
		gpusched_add(n, 1);
}

GPUSCHED_TASK_INIT(t)
{
	if (t->kind == GPUSCHED_KIND_COMPUTE)
		gpusched_want_timeslice(t, slice_us);
	return 0;
}

GPUSCHED_WORK_SUBMIT(t, w)
{
	gs_u64 id = t->id, none = 0, *last = gpusched_lookup_or_add(every_last, &id, &none);

	if (!last)
		return 0;
	if (*last && t->launches != *last + w->count)
		gpusched_fail(-1, "a launch was missed, or seen twice");
	*last = t->launches;
	add_one(w->kind == GPUSCHED_WORK_GRAPH ? GRAPHS : KERNELS);
	return 0;
}

GPUSCHED_EXIT(reason)
{
	gs_u32 kernels = KERNELS, graphs = GRAPHS;
	gs_u64 *n = gpusched_lookup(every_seen, &kernels),
	       *m = gpusched_lookup(every_seen, &graphs);

	if (!n || !m)
		return 0;
	gpusched_log("kernels seen", *n);
	gpusched_log("graphs seen", *m);
	return 0;
}
