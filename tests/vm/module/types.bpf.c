// SPDX-License-Identifier: GPL-2.0-only
/* types - policies that are exchanged, and two that the type refuses */
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
