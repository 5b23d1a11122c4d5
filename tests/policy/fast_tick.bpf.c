/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* A tick of 1 us. */
#include "gpusched/policy.bpf.h"

GPUSCHED_POLICY(fast_tick, 1, 100, 0);

GPUSCHED_TICK(t, round)
{
	t->priv[0] = round->now_ns;
	return 0;
}
