// SPDX-License-Identifier: GPL-2.0-only
/*
 * callback.bpf.c - define TCP congestion controls for bench/callback.c
 *
 * There are two of each kind: without the callback init, with an empty init, and with an init that
 * counts in a map.
 */
#include <linux/bpf.h>
#include <linux/types.h>

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

char _license[] SEC("license") = "GPL";

struct sock;
struct tcp_congestion_ops {
	__u32 (*ssthresh)(struct sock *sk);
	void (*cong_avoid)(struct sock *sk, __u32 ack, __u32 acked);
	__u32 (*undo_cwnd)(struct sock *sk);
	void (*init)(struct sock *sk);
	char name[16];
} __attribute__((preserve_access_index));

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 64);
	__type(key, __u64);
	__type(value, __u64);
} seen SEC(".maps");

SEC("struct_ops/ssthresh") __u32 BPF_PROG(ssthresh, struct sock *sk)
{
	return 2;
}

SEC("struct_ops/cong_avoid") void BPF_PROG(cong_avoid, struct sock *sk, __u32 ack, __u32 acked)
{
}

SEC("struct_ops/undo_cwnd") __u32 BPF_PROG(undo_cwnd, struct sock *sk)
{
	return 2;
}

SEC("struct_ops/empty") void BPF_PROG(empty, struct sock *sk)
{
}

SEC("struct_ops/counts") void BPF_PROG(counts, struct sock *sk)
{
	__u64 key = (__u64)sk, one = 1, *n = bpf_map_lookup_elem(&seen, &key);

	if (n)
		__sync_fetch_and_add(n, 1);
	else
		bpf_map_update_elem(&seen, &key, &one, BPF_ANY);
}

#define CONTROL(id, text, ...) \
	SEC(".struct_ops") \
	struct tcp_congestion_ops id = { .ssthresh = (void *)ssthresh, \
					 .cong_avoid = (void *)cong_avoid, \
					 .undo_cwnd = (void *)undo_cwnd, \
					 .name = text, \
					 __VA_ARGS__ }

CONTROL(none_a, "cb_none_a");
CONTROL(none_b, "cb_none_b");
CONTROL(empty_a, "cb_empty_a", .init = (void *)empty);
CONTROL(empty_b, "cb_empty_b", .init = (void *)empty);
CONTROL(counts_a, "cb_counts_a", .init = (void *)counts);
CONTROL(counts_b, "cb_counts_b", .init = (void *)counts);
