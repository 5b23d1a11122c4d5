/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * none - no wish for any TSG: the driver's own behaviour, with gpusched watching
 *
 * Does: nothing. Every TSG keeps what its owner asked for.
 *
 * Good for: a baseline. It runs on the same host as the other policies, so a comparison shows what
 * a policy does, without the cost of the host.
 *
 * Known weaknesses: those of the driver (round robin with 2 ms slices), and no others.
 */
#include "gpusched/policy.bpf.h"

GPUSCHED_POLICY(none, 0, 1000, 0);
GPUSCHED_ABOUT("no wish for any TSG: the driver's own behaviour");

GPUSCHED_TASK_INIT(t)
{
	gpusched_want_default(t, GPUSCHED_ALL_SETTINGS);
	return 0;
}
