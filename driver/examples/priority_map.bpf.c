// SPDX-License-Identifier: GPL-2.0-only
/*
 * priority_map - gives slices by priority, from a map that user space fills by process
 *
 * Map priorities: pid -> priority. With priority 10 or more, a TSG has 10 s, whatever its owner
 * asks. From 5 to 9 it has 1 ms, and below 5 it has 200 us, until its owner asks for another slice.
 * A process that is not in the map keeps its own slice.
 *
 * Good for: a handful of processes that a person starts and knows. Known weaknesses: a process must
 * be in the map before it makes its TSGs, since a change of the map reaches only TSGs made later.
 * Two TSGs with 10 s each wait until the other one rests or ends. TSGs of copy engines get the same
 * slices.
 */
#include "gpu_policy.h"

char _license[] SEC("license") = "GPL";

#define FIRST 10
#define MIDDLE 5
#define FIRST_US 10000000
#define MIDDLE_US 1000
#define LAST_US 200

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, __u32);
	__type(value, __u32);
} priorities SEC(".maps");

static __u32 *priority_of(struct gpu_task *t)
{
	__u32 pid = t->pid;

	return bpf_map_lookup_elem(&priorities, &pid);
}

SEC("struct_ops/task_init") void BPF_PROG(priority_init, struct gpu_task *t)
{
	const __u32 *priority = priority_of(t);

	if (!priority)
		return;
	if (*priority >= FIRST)
		gpusched_set_timeslice(t, FIRST_US);
	else
		gpusched_set_timeslice(t, *priority >= MIDDLE ? MIDDLE_US : LAST_US);
}

SEC("struct_ops/timeslice_set")
__u64 BPF_PROG(priority_timeslice_set, struct gpu_task *t, __u64 us)
{
	const __u32 *priority = priority_of(t);

	if (priority && *priority >= FIRST)
		return FIRST_US;
	if (priority)                 /* from here on the owner's setting applies */
		gpusched_unset(t, 1); /* GPUSCHED_TIMESLICE */
	return us;
}

SEC(".struct_ops.link")
struct gpu_sched_ops priority_map = {
	.task_init = (void *)priority_init,
	.timeslice_set = (void *)priority_timeslice_set,
	.name = "priority_map",
};
