// SPDX-License-Identifier: GPL-2.0-only
/*
 * life_log - records each TSG's life for user space to read; decides nothing
 *
 * Map lives is a ring of the last 1,024 records; map count has the number of all records so far. A
 * record has the time (of the kernel's clock, and of the day), the callback, and the TSG as it was
 * then.
 *
 * Good for: learning what a program does, and what the hooks see. Known weaknesses: a reader that
 * falls behind by 1,024 records loses some, and may read a record that is being written. The
 * command `gpusched monitor` shows the same from the taps, for every driver.
 */
#include "gpu_policy.h"

char _license[] SEC("license") = "GPL";

#define RECORDS 1024

enum what { INIT = 1, SCHEDULE, TIMESLICE, TOKEN, DESTROY };

struct life {
	__u64 ns, wall_ns, value; /* TIMESLICE: us that the owner asked for; TOKEN: the token */
	__u32 what, client, tsg, pid, tid, gpu, engine, group, runlist, channels, interleave;
	__u32 status, class_id, weight, gpu_instance, compute_instance;
};
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, RECORDS);
	__type(key, __u32);
	__type(value, struct life);
} lives SEC(".maps");
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} count SEC(".maps");

static void put(struct gpu_task *t, enum what what, __u64 value)
{
	__u32 zero = 0, at;
	__u64 *n = bpf_map_lookup_elem(&count, &zero);
	struct life *l;

	if (!n)
		return;
	at = __sync_fetch_and_add(n, 1) % RECORDS;
	l = bpf_map_lookup_elem(&lives, &at);
	if (!l)
		return;
	l->ns = bpf_ktime_get_ns();
	l->wall_ns = gpusched_wall_ns();
	l->what = what;
	l->value = value;
	l->client = t->client;
	l->tsg = t->tsg;
	l->pid = t->pid;
	l->tid = t->tid;
	l->gpu = t->gpu;
	l->engine = t->engine;
	l->group = t->group;
	l->runlist = t->runlist;
	l->channels = t->channels;
	l->interleave = t->interleave;
	l->status = t->status;
	l->class_id = t->class_id;
	l->weight = t->weight;
	l->gpu_instance = t->gpu_instance;
	l->compute_instance = t->compute_instance;
}

SEC("struct_ops/task_init") void BPF_PROG(life_init, struct gpu_task *t)
{
	put(t, INIT, 0);
}

SEC("struct_ops/schedule") int BPF_PROG(life_schedule, struct gpu_task *t)
{
	put(t, SCHEDULE, 0);
	return GPU_GO;
}

SEC("struct_ops/timeslice_set") __u64 BPF_PROG(life_timeslice_set, struct gpu_task *t, __u64 us)
{
	put(t, TIMESLICE, us);
	return us;
}

SEC("struct_ops/work_token")
void BPF_PROG(life_work_token, struct gpu_task *t, __u32 channel, __u32 token)
{
	put(t, TOKEN, token);
}

SEC("struct_ops/task_destroy") void BPF_PROG(life_destroy, struct gpu_task *t)
{
	put(t, DESTROY, 0);
}

SEC(".struct_ops.link")
struct gpu_sched_ops life_log = {
	.task_init = (void *)life_init,
	.schedule = (void *)life_schedule,
	.timeslice_set = (void *)life_timeslice_set,
	.work_token = (void *)life_work_token,
	.task_destroy = (void *)life_destroy,
	.name = "life_log",
};
