// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* started.bpf.c - reads the start time of one process, for started.c */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "table/kernel.bpf.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

SEC("iter/task")
int iter_started(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	unsigned long long ns;

	if (!task)
		return 0;
	ns = task->start_boottime;
	bpf_seq_write(ctx->meta->seq, &ns, sizeof(ns));
	return 0;
}
