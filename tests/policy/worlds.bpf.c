/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Makes wishes for compute TSGs of be that break a law of the engine; an option says which law. */
#include "gpusched/policy.bpf.h"

GPUSCHED_POLICY(worlds, 10000, 500, 0);

GPUSCHED_OPTION(gs_u32, law, 0, "0 short slices, 1 suspension, 2 budget, 3 range");

GPUSCHED_TICK(t, round)
{
	if (t->class_id != GPUSCHED_CLASS_BE || t->kind != GPUSCHED_KIND_COMPUTE)
		return 0;
	if (law == 0)
		gpusched_want_timeslice(t, 1);
	else if (law == 1)
		gpusched_want_runnable(t, 0);
	else if (law == 2)
		gpusched_want_timeslice(t, round->seq & 1 ? 1000 : 3000);
	else
		gpusched_want_timeslice(t, 200000000);
	return 0;
}
