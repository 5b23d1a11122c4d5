/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Has a BPF program of its own. */
#include "gpusched/policy.bpf.h"

GPUSCHED_POLICY(own_program, 0, 100, 0);

SEC("tp_btf/sched_switch")
int spy(void *ctx)
{
	(void)ctx;
	return 0;
}

GPUSCHED_TASK_INIT(t)
{
	return 0;
}
