/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Fails in task_init at the first TSG. */
#include "gpusched/policy.bpf.h"

GPUSCHED_POLICY(fails_in_task_init, 0, 100, 0);

GPUSCHED_TASK_INIT(t)
{
	gpusched_want_timeslice(t, 777);
	gpusched_log("met", t->kind);
	gpusched_fail(-9, "not this one \xbb");
	return 0;
}
