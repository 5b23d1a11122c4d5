// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * called - records when a parked program last called libcuda
 *
 * It is loaded once for each parked program, so its probes and @last_ns belong to that program.
 */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "gpusched/abi.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

volatile gs_u64 last_ns = 0; /* CLOCK_MONOTONIC; 0: no call since the probes were set */

SEC("uprobe")
int called(void *ctx)
{
	last_ns = bpf_ktime_get_ns();
	return 0;
}
