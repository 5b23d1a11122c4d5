// SPDX-License-Identifier: GPL-2.0-only
/* sleeps.bpf.c - declare a callback that may sleep, which the struct_ops type refuses */
#include "policy.h"

char _license[] SEC("license") = "GPL";

SEC("struct_ops.s/task_init") void BPF_PROG(sleeps_task_init, struct gpu_task *t)
{
}

SEC(".struct_ops.link")
struct gpu_sched_ops sleeps = {
	.task_init = (void *)sleeps_task_init,
	.name = "sleeps",
};
