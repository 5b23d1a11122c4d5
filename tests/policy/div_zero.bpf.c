/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Divides by zero: 0 in the kernel, a crash in the native host, which survives it. */
#include "gpusched/policy.bpf.h"

GPUSCHED_POLICY(div_zero, 0, 100, 0);

GPUSCHED_TASK_INIT(t)
{
	t->priv[1] = 7;
	t->priv[1] = (gs_u32)t->class_id / (gs_u32)t->priv[2];
	return 0;
}
