// SPDX-License-Identifier: GPL-2.0-only
/* writes.bpf.c - write into a TSG's record, which the verifier must refuse */
#include "policy.h"

char _license[] SEC("license") = "GPL";

SEC("struct_ops/task_init") void BPF_PROG(writes_task_init, struct gpu_task *t)
{
	t->timeslice_us = 1;
}

SEC(".struct_ops.link")
struct gpu_sched_ops writes = {
	.task_init = (void *)writes_task_init,
	.name = "writes",
};
