/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Callbacks without a declaration. */
#include "gpusched/policy.bpf.h"

GPUSCHED_LICENSE_TEXT;

GPUSCHED_TASK_INIT(t)
{
	return 0;
}
