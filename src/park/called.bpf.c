// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * called - notes when a parked program calls libcuda
 *
 * Loaded once for each such program: so the probes and the note below belong to that program alone.
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
