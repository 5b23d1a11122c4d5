/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* A loop that never ends: the verifier refuses it; the native host's watchdog ends it. */
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
