/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Wishes one setting for each of a test's classes: stop, slice, level, in their order. */
#include "gpusched/policy.bpf.h"

GPUSCHED_POLICY(unknown, 0, 100, GPUSCHED_F_ASSUMED);

GPUSCHED_TASK_INIT(t)
{
	if (t->class_id == GPUSCHED_CLASS_FIRST_USER)
		gpusched_want_runnable(t, 0);
	if (t->class_id == GPUSCHED_CLASS_FIRST_USER + 1)
		gpusched_want_timeslice(t, 777);
	if (t->class_id == GPUSCHED_CLASS_FIRST_USER + 2)
		gpusched_want_interleave(t, GPUSCHED_INTERLEAVE_HIGH);
	return 0;
}
