/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Wishes mode CTA for all TSGs, which is for their owners and for persons to say. */
#include "gpusched/policy.bpf.h"

GPUSCHED_POLICY(wishes_cta, 0, 100, GPUSCHED_F_ASSUMED);

GPUSCHED_TASK_INIT(t)
{
	gpusched_want_preempt_mode(t, GPUSCHED_PREEMPT_CTA);
	return 0;
}
