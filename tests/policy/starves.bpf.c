/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Starves class be, which never runs, and would have the shortest slice if it did. */
#include "gpusched/policy.bpf.h"

GPUSCHED_POLICY(starves, 10000, 100, 0);

GPUSCHED_TICK(t, round)
{
	if (t->class_id != GPUSCHED_CLASS_BE) {
		gpusched_want_timeslice(t, 100000);
		return 0;
	}
	gpusched_want_runnable(t, 0);
	gpusched_want_timeslice(t, 1);
	return 0;
}
