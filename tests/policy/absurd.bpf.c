/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Makes impossible wishes, and writes to fields that are not its own: ignored, or refused later. */
#include "gpusched/policy.bpf.h"

GPUSCHED_POLICY(absurd, 0, 100, 0);

GPUSCHED_TASK_INIT(t)
{
	t->want.valid = 0xffffffffu;
	t->want.timeslice_us = 0;
	t->want.interleave = 77;
	t->want.preempt_mode = 99;
	t->want.runnable = 200;
	t->asked.timeslice_us = 1;
	t->asked.valid = GPUSCHED_ALL_SETTINGS;
	t->is.timeslice_us = 1;
	t->id = 1;
	t->pid = 1;
	t->class_id = GPUSCHED_CLASS_LC;
	t->priv[7] = (gs_u64)-1;
	return -12345;
}
