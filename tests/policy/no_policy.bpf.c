/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Callbacks without GPUSCHED_POLICY(). */
#include "gpusched/policy.bpf.h"

GPUSCHED_LICENSE_TEXT;

GPUSCHED_TASK_INIT(t)
{
	return 0;
}
