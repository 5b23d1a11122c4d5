/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Calls its own callback, which would multiply its steps. */
#include "gpusched/policy.bpf.h"

GPUSCHED_POLICY(own_callback, 0, 100, 0);

GPUSCHED_TIMESLICE_SET(t, us)
{
	t->priv[0] = us;
	return 0;
}

GPUSCHED_TASK_INIT(t)
{
	int i;

	for (i = 0; i < 1000; i++)
		gpusched_ops_timeslice_set(t, 3);
	return 0;
}
