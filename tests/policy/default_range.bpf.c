/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The default of its option is outside the option's range. */
#include "gpusched/policy.bpf.h"

GPUSCHED_POLICY(default_range, 0, 100, 0);

GPUSCHED_OPTION_RANGE(gs_s32, level, -6, -5, 5, "from -5 to 5");

GPUSCHED_TASK_INIT(t)
{
	t->priv[0] = (gs_u64)level;
	return 0;
}
