/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Suspends each TSG, always. */
#include "gpusched/policy.bpf.h"

GPUSCHED_POLICY(suspends_all, 10000, 100, 0);

GPUSCHED_TASK_INIT(t)
{
	gpusched_want_runnable(t, 0);
	return 0;
}

GPUSCHED_TICK(t, round)
{
	gpusched_want_runnable(t, 0);
	return 0;
}
