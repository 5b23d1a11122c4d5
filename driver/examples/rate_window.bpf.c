// SPDX-License-Identifier: GPL-2.0-only
/*
 * rate_window - takes a process for LC or BE by its rate of work tokens, in windows of a second
 *
 * Map rates: pid -> its window, and its class. Above 1,000 tokens a second a process is LC, below
 * 100 it is BE, and in between it stays what it was. The class decides the slice of its TSGs: LC 10
 * s, BE 200 us. Options, set before the policy is loaded: window_ns, lc_above, be_below.
 *
 * Good for: showing how a policy keeps state and decides by it. Known weakness: it is of no use in
 * practice. The driver asks for a token once for each channel, not for each launch, since launches
 * reach the GPU without the kernel (docs/truth.md). So this is a rate of new channels. Policies by
 * the rate of launches are gpusched's own (adaptive): uprobes or an agent count launches for them.
 */
#include "gpu_policy.h"

char _license[] SEC("license") = "GPL";

#define LC_US 10000000
#define BE_US 200

const volatile __u64 window_ns = 1000000000, lc_above = 1000, be_below = 100;

enum type { UNKNOWN, LC, BE };

struct rate {
	__u64 since_ns;
	__u32 tokens, type;
};
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1024);
	__type(key, __u32);
	__type(value, struct rate);
} rates SEC(".maps");

static void judge(struct rate *r, __u64 now)
{
	__u64 passed = now - r->since_ns, rate = r->tokens * 1000000000ull / passed;

	if (rate > lc_above)
		r->type = LC;
	else if (rate < be_below)
		r->type = BE;
	r->since_ns = now;
	r->tokens = 0;
}

SEC("struct_ops/work_token")
void BPF_PROG(rate_work_token, struct gpu_task *t, __u32 channel, __u32 token)
{
	struct rate fresh = { .since_ns = bpf_ktime_get_ns() }, *r;
	__u32 pid = t->pid;

	bpf_map_update_elem(&rates, &pid, &fresh, BPF_NOEXIST);
	r = bpf_map_lookup_elem(&rates, &pid);
	if (!r)
		return;
	__sync_fetch_and_add(&r->tokens, 1);
	if (fresh.since_ns <= r->since_ns + window_ns)
		return;
	judge(r, fresh.since_ns);
	if (r->type)
		gpusched_set_timeslice(t, r->type == LC ? LC_US : BE_US);
}

SEC(".struct_ops.link")
struct gpu_sched_ops rate_window = {
	.work_token = (void *)rate_work_token,
	.name = "rate_window",
};
