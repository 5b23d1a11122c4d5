// SPDX-License-Identifier: GPL-2.0-only
/* slow.bpf.c - set something, and then take longer than the policy's timeout_ms */
#include "policy.h"

char _license[] SEC("license") = "GPL";

static long turn(__u32 i, void *nothing)
{
	return 0;
}

SEC("struct_ops/task_init") void BPF_PROG(slow_task_init, struct gpu_task *t)
{
	gpusched_set_timeslice(t, 111);
	bpf_loop(1 << 20, turn, NULL, 0);
	bpf_loop(1 << 20, turn, NULL, 0);
}

SEC(".struct_ops.link")
struct gpu_sched_ops slow = {
	.task_init = (void *)slow_task_init,
	.timeout_ms = 1,
	.name = "slow",
};
