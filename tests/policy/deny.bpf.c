/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Denies, which the stock host cannot do. */
#include "gpusched/policy.bpf.h"

GPUSCHED_POLICY(deny, 0, 100, GPUSCHED_F_DENY);

GPUSCHED_SCHEDULE(t)
{
	return GPUSCHED_DENY;
}
