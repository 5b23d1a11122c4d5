/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Has no tick, and logs. */
#include "gpusched/policy.bpf.h"

GPUSCHED_POLICY(logs, 0, 100, 0);

GPUSCHED_TASK_INIT(t)
{
	gpusched_log("met one of class", t->class_id);
	return 0;
}
