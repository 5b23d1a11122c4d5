// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* Wishes a timeslice at a certain number of launches, so that the wish shows the call. */
#include <gpusched/policy.bpf.h>

GPUSCHED_POLICY(work, 0, 100, GPUSCHED_F_WORK);

GPUSCHED_OPTION_RANGE(gs_u32, after, 100, 1, 1000000000, "launches before the short slice");

GPUSCHED_WORK_SUBMIT(t, w)
{
	t->priv[0] += w->count;
	if (w->kind != GPUSCHED_WORK_KERNEL)
		gpusched_fail(-1, "a launch of unknown kind");
	if (t->launches >= after)
		gpusched_want_timeslice(t, 300);
	return 0;
}
