// SPDX-License-Identifier: GPL-2.0-only
/*
 * all.bpf.c - use every callback and every kfunc
 *
 * A TSG's treatment depends on the last hexadecimal digit of its handle, so that a test can choose
 * it: 1 gets a short slice, 2 interleave and mode, 3 is suspended, 4 preempted, 5 denied. 6 is held
 * until a TSG that ends in 7 is made, which also resumes the one that ends in 3. 8 gets half the
 * slice that it asks for. a is denied once a TSG that ends in b has been made.
 */
#include "policy.h"

char _license[] SEC("license") = "GPL";

struct counts {
	__u64 init, exit, task_init, schedule, timeslice_set, work_token, task_destroy, failed;
	__u32 exit_kind, token, status;
};
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct counts);
} counts SEC(".maps");

int go;   /* a TSG that ends in 7 was made */
int shut; /* a TSG that ends in b was made */

static struct counts *count(void)
{
	static const __u32 zero;

	return bpf_map_lookup_elem(&counts, &zero);
}

#define COUNT(field) \
	do { \
		struct counts *c_ = count(); \
		if (c_) \
			__sync_fetch_and_add(&c_->field, 1); \
	} while (0)

SEC("struct_ops/init") int BPF_PROG(all_init)
{
	COUNT(init);
	return 0;
}

SEC("struct_ops/exit") void BPF_PROG(all_exit, struct gpu_exit *why)
{
	struct counts *c = count();

	COUNT(exit);
	if (c)
		c->exit_kind = why->kind;
}

static void resume_other(__u32 client, __u32 tsg)
{
	struct gpu_task *other = gpusched_get_task(client, tsg);

	if (!other)
		return;
	if (gpusched_resume(other))
		COUNT(failed);
	gpusched_put_task(other);
}

SEC("struct_ops/task_init") void BPF_PROG(all_task_init, struct gpu_task *t)
{
	int r = 0;

	COUNT(task_init);
	switch (t->tsg & 0xf) {
	case 1:
		r = gpusched_set_timeslice(t, 111);
		break;
	case 2:
		/* 1: -EPERM is what it has to say to CTA, on a TSG whose owner has CILP */
		r = gpusched_set_interleave(t, 2) ?: gpusched_set_preempt_mode(t, 1) + 1;
		break;
	case 3:
		r = gpusched_suspend(t);
		break;
	case 4:
		r = gpusched_preempt(t, 1000);
		break;
	case 0xb:
		shut = 1;
		break;
	case 7:
		go = 1;
		resume_other(t->client, (t->tsg & ~0xf) | 3);
		break;
	}
	if (r)
		COUNT(failed);
}

SEC("struct_ops/schedule") int BPF_PROG(all_schedule, struct gpu_task *t)
{
	COUNT(schedule);
	if ((t->tsg & 0xf) == 5 || ((t->tsg & 0xf) == 0xa && shut))
		return GPU_DENY;
	return (t->tsg & 0xf) == 6 && !go ? GPU_HOLD : GPU_GO;
}

SEC("struct_ops/timeslice_set") __u64 BPF_PROG(all_timeslice_set, struct gpu_task *t, __u64 us)
{
	COUNT(timeslice_set);
	return (t->tsg & 0xf) == 8 ? us / 2 : us;
}

SEC("struct_ops/work_token")
void BPF_PROG(all_work_token, struct gpu_task *t, __u32 channel, __u32 token)
{
	struct counts *c = count();

	COUNT(work_token);
	if (c)
		c->token = token;
}

SEC("struct_ops/task_destroy") void BPF_PROG(all_task_destroy, struct gpu_task *t)
{
	struct counts *c = count();

	COUNT(task_destroy);
	if (c && t->status)
		c->status = t->status;
}

SEC(".struct_ops.link")
struct gpu_sched_ops all = {
	.init = (void *)all_init,
	.exit = (void *)all_exit,
	.task_init = (void *)all_task_init,
	.schedule = (void *)all_schedule,
	.timeslice_set = (void *)all_timeslice_set,
	.work_token = (void *)all_work_token,
	.task_destroy = (void *)all_task_destroy,
	.timeout_ms = 5000,
	.name = "all",
};
