// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * enter - the BPF programs that are attached to a libcuda, and call the counting programs
 *
 * They outlive the daemon and its table. Each of them only tail-calls a counting program from a
 * slot in a map. While the slot is empty, it returns at once.
 */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "launch/launch.bpf.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, GS_LAUNCH_PROGS);
	__type(key, gs_u32);
	__type(value, gs_u32);
} gs_launch_slots SEC(".maps");

SEC("uretprobe")
int enter_made(void *ctx)
{
	bpf_tail_call(ctx, &gs_launch_slots, GS_LAUNCH_MADE);
	return 0;
}

SEC("uprobe")
int enter_context(void *ctx)
{
	bpf_tail_call(ctx, &gs_launch_slots, GS_LAUNCH_CONTEXT);
	return 0;
}

SEC("uretprobe")
int enter_waited(void *ctx)
{
	bpf_tail_call(ctx, &gs_launch_slots, GS_LAUNCH_WAITED);
	return 0;
}

SEC("uprobe")
int enter_wait(void *ctx)
{
	bpf_tail_call(ctx, &gs_launch_slots, GS_LAUNCH_WAIT);
	return 0;
}

SEC("uprobe")
int enter_launch(void *ctx)
{
	bpf_tail_call(ctx, &gs_launch_slots, GS_LAUNCH_LAUNCH);
	return 0;
}
