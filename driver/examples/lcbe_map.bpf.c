// SPDX-License-Identifier: GPL-2.0-only
/*
 * lcbe_map - treats processes as latency-critical or best-effort, by a map that user space fills
 *
 * Map types: pid -> 1 LC, 0 BE. TSGs of an LC get 10 s and the high interleave level, and those of
 * a BE get 200 us and the low one, whatever their owners ask. Others are left alone.
 *
 * Good for: one LC that rests between requests, beside programs that fill the GPU. Known
 * weaknesses: an LC that never rests starves the BEs. If a process's type changes, the
 * slices of its existing TSGs follow only when the process next sets one, and their interleave
 * levels never. The gpusched policy lcbe follows classes at
 * once.
 */
#include "gpu_policy.h"

char _license[] SEC("license") = "GPL";

#define LC_US 10000000
#define BE_US 200
#define LOW 0
#define HIGH 2

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, __u32);
	__type(value, __u32);
} types SEC(".maps");

static __u32 *type_of(struct gpu_task *t)
{
	__u32 pid = t->pid;

	return bpf_map_lookup_elem(&types, &pid);
}

SEC("struct_ops/task_init") void BPF_PROG(lcbe_init, struct gpu_task *t)
{
	const __u32 *type = type_of(t);

	if (!type)
		return;
	gpusched_set_timeslice(t, *type ? LC_US : BE_US);
	gpusched_set_interleave(t, *type ? HIGH : LOW);
}

SEC("struct_ops/timeslice_set")
__u64 BPF_PROG(lcbe_timeslice_set, struct gpu_task *t, __u64 us)
{
	const __u32 *type = type_of(t);

	if (!type)
		return us;
	return *type ? LC_US : BE_US;
}

SEC(".struct_ops.link")
struct gpu_sched_ops lcbe_map = {
	.task_init = (void *)lcbe_init,
	.timeslice_set = (void *)lcbe_timeslice_set,
	.name = "lcbe_map",
};
