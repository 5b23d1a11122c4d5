// SPDX-License-Identifier: GPL-2.0-only
/*
 * foreign.bpf.c - call a kfunc from another struct_ops type, which needs fewer rights; the kernel
 * must refuse it
 */
#include "policy.h"

char _license[] SEC("license") = "GPL";

struct sock;
struct tcp_congestion_ops {
	__u32 (*ssthresh)(struct sock *sk);
	void (*cong_avoid)(struct sock *sk, __u32 ack, __u32 acked);
	__u32 (*undo_cwnd)(struct sock *sk);
	char name[16];
};

SEC("struct_ops/ssthresh") __u32 BPF_PROG(foreign_ssthresh, struct sock *sk)
{
	struct gpu_task *t = gpusched_get_task(1, 1);

	if (t)
		gpusched_put_task(t);
	return 2;
}

SEC("struct_ops/cong_avoid")
void BPF_PROG(foreign_cong_avoid, struct sock *sk, __u32 ack, __u32 acked)
{
}

SEC("struct_ops/undo_cwnd") __u32 BPF_PROG(foreign_undo_cwnd, struct sock *sk)
{
	return 2;
}

SEC(".struct_ops.link")
struct tcp_congestion_ops foreign = {
	.ssthresh = (void *)foreign_ssthresh,
	.cong_avoid = (void *)foreign_cong_avoid,
	.undo_cwnd = (void *)foreign_undo_cwnd,
	.name = "foreign",
};
