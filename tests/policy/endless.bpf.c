/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Never ends: the verifier refuses; the native host leaves it by its watch. */
#include "gpusched/policy.bpf.h"

GPUSCHED_POLICY(endless, 1000, 50, 0);

GPUSCHED_TICK(t, round)
{
	for (;;) {
		t->priv[0]++;
		__asm__ volatile("" ::: "memory");
	}
	return 0;
}
