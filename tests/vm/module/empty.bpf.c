// SPDX-License-Identifier: GPL-2.0-only
/* empty.bpf.c - do nothing in every callback of a TSG, to show what calling a policy costs */
#include "policy.h"

char _license[] SEC("license") = "GPL";

SEC("struct_ops/task_init") void BPF_PROG(empty_task_init, struct gpu_task *t)
{
}

SEC("struct_ops/schedule") int BPF_PROG(empty_schedule, struct gpu_task *t)
{
	return GPU_GO;
}

SEC("struct_ops/timeslice_set") __u64 BPF_PROG(empty_timeslice_set, struct gpu_task *t, __u64 us)
{
	return us;
}

SEC("struct_ops/task_destroy") void BPF_PROG(empty_task_destroy, struct gpu_task *t)
{
}

SEC(".struct_ops.link")
struct gpu_sched_ops empty = {
	.task_init = (void *)empty_task_init,
	.schedule = (void *)empty_schedule,
	.timeslice_set = (void *)empty_timeslice_set,
	.task_destroy = (void *)empty_task_destroy,
	.name = "empty",
};
