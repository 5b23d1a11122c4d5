/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Refuses to start. */
#include "gpusched/policy.bpf.h"

GPUSCHED_POLICY(dies_in_init, 0, 100, 0);

GPUSCHED_INIT()
{
	gpusched_log("it is not \xab the day \xbb; of the week", 5);
	return -5;
}
