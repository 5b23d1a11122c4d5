// SPDX-License-Identifier: GPL-2.0-only
/*
 * types.bpf.c - define policies that replace each other, and two that the struct_ops type refuses
 */
#include "policy.h"

char _license[] SEC("license") = "GPL";

SEC("struct_ops/task_init") void BPF_PROG(types_task_init, struct gpu_task *t)
{
}

SEC(".struct_ops.link")
struct gpu_sched_ops first = {
	.task_init = (void *)types_task_init,
	.name = "first",
};

SEC(".struct_ops.link")
struct gpu_sched_ops second = {
	.task_init = (void *)types_task_init,
	.name = "second",
};

/* Policy late: its callback sets entered, and runs until leave is set. */
struct {
	int entered, leave;
} late_data;

static long late_turn(__u32 i, void *nothing)
{
	return *(volatile int *)&late_data.leave != 0;
}

SEC("struct_ops/task_init") void BPF_PROG(late_task_init, struct gpu_task *t)
{
	late_data.entered = 1;
	bpf_loop(1 << 23, late_turn, NULL, 0);
	bpf_loop(1 << 23, late_turn, NULL, 0);
}

SEC(".struct_ops.link")
struct gpu_sched_ops late = {
	.task_init = (void *)late_task_init,
	.timeout_ms = 1,
	.name = "late",
};

SEC(".struct_ops.link")
struct gpu_sched_ops nameless = {
	.task_init = (void *)types_task_init,
};

SEC(".struct_ops.link")
struct gpu_sched_ops patient = {
	.task_init = (void *)types_task_init,
	.timeout_ms = 5001,
	.name = "patient",
};
