/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * none - no wish for any TSG: the driver's own behaviour, under gpusched's eyes
 *
 * Does: nothing. Every TSG keeps what its owner asked for.
 *
 * Good for: a baseline that runs through the same host as the other policies, so that a comparison
 * shows what a policy does and not what its host costs.
 *
 * Known weaknesses: none of its own; see the driver's (round robin with 2 ms slices).
 */
#include "gpusched/policy.bpf.h"

GPUSCHED_POLICY(none, 0, 1000, 0);
GPUSCHED_ABOUT("no wish for any TSG: the driver's own behaviour");

GPUSCHED_TASK_INIT(t)
{
	gpusched_want_default(t, GPUSCHED_ALL_SETTINGS);
	return 0;
}
