/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * aside.h - a callback that is called from elsewhere than the taps: from a policy in gpusched.ko
 *
 * glue_stock.bpf.c has it; driver/loader/glue.bpf.c, which is linked with that, calls it.
 */
#ifndef GPUSCHED_POLICY_ASIDE_H
#define GPUSCHED_POLICY_ASIDE_H

#include "gpusched/policy_types.h"
#include "table/maps.bpf.h"

#define GS_ASIDE_CHANGED (1ull << 32) /* a wish is another now */
#define GS_ASIDE_UNASKED (1ull << 33)

/* @op: enum gpusched_run_op. The lower 32 bits: what the callback answered. */
gs_u64 gs_decide_aside(struct gpusched_tsg *rec, gs_u32 op, gs_u64 arg);

/* 1: it has failed, or is stopped. */
int gs_aside_over(void);

/*
 * Host hooked: a record by the names that the driver's hooks know. The process is the one that made
 * the TSG, as both sides have it from the kernel. So nobody can pass for another's TSG.
 */
struct gs_hook_key {
	gs_u32 client, tsg, pid, pad;
};

/* With what the policy was asked in a hook. The tap at that call's exit does not ask it again. */
struct gs_hook_tsg {
	struct gpusched_key key;
	gs_u64 id;
	gs_u64 caller;   /* the thread, bpf_get_current_pid_tgid(); 0: it was not asked */
	gs_u64 since_ns; /* when */
	gs_u32 op;       /* enum gpusched_run_op */
	gs_u32 class_id; /* that it was asked with */
	gs_u32 asked_us; /* TIMESLICE_SET: what its owner said, and what the driver was told */
	gs_u32 set_us;
	gs_u32 changed; /* a wish is another since */
	gs_u32 pad;
};

GS_MAP struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, GPUSCHED_MAX_TSGS);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct gs_hook_key);
	__type(value, struct gs_hook_tsg);
} gs_hook_tsgs SEC(".maps");

#endif /* GPUSCHED_POLICY_ASIDE_H */
