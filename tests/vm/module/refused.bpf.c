// SPDX-License-Identifier: GPL-2.0-only
/* refused.bpf.c - return an error from init(), so that the policy is not loaded */
#include "policy.h"

char _license[] SEC("license") = "GPL";

SEC("struct_ops/init") int BPF_PROG(refused_init)
{
	return -7;
}

SEC(".struct_ops.link")
struct gpu_sched_ops refused = {
	.init = (void *)refused_init,
	.name = "refused",
};
