/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The policy modes, with the flag. */
#include "gpusched/policy.bpf.h"

GPUSCHED_POLICY(modes_assumed, 0, 100, GPUSCHED_F_ASSUMED);

GPUSCHED_TASK_INIT(t)
{
	gpusched_want_timeslice(t, 1700);
	gpusched_want_interleave(t, GPUSCHED_INTERLEAVE_HIGH);
	return 0;
}
