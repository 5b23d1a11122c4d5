/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Wishes settings, one of which cannot be read for adopted TSGs, without the flag that allows it.
 */
#include "gpusched/policy.bpf.h"

GPUSCHED_POLICY(modes, 0, 100, 0);

GPUSCHED_TASK_INIT(t)
{
	gpusched_want_timeslice(t, 1700);
	gpusched_want_interleave(t, GPUSCHED_INTERLEAVE_HIGH);
	return 0;
}
