// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * called - notes when a parked program calls libcuda
 *
 * Loaded once for each such program: its probes are the program's alone, and so is the memory.
 */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "gpusched/abi.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

volatile gs_u64 last_ns = 0; /* CLOCK_MONOTONIC; 0: not since the probes are set */

SEC("uprobe")
int called(void *ctx)
{
	last_ns = bpf_ktime_get_ns();
	return 0;
}
