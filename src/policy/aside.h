/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * aside.h - runs a policy's callback for a caller other than the taps: gpusched.ko
 *
 * The functions are in glue_stock.bpf.c. Their caller is driver/loader/glue.bpf.c, which is linked
 * with it.
 */
#ifndef GPUSCHED_POLICY_ASIDE_H
#define GPUSCHED_POLICY_ASIDE_H

#include "gpusched/policy_types.h"
#include "table/maps.bpf.h"

#define GS_ASIDE_CHANGED (1ull << 32) /* a wish has changed */
#define GS_ASIDE_UNASKED (1ull << 33)

/* @op: enum gpusched_run_op. The lower 32 bits of the result are the callback's return value. */
gs_u64 gs_decide_aside(struct gpusched_tsg *rec, gs_u32 op, gs_u64 arg);

/* Returns 1 if the policy has failed, or was stopped. */
int gs_aside_over(void);

/*
 * Host hooked: identifies a record by facts that the driver's hooks know. @pid is the process that
 * made the TSG. Hooks and taps get it from the kernel, so no process can claim another's TSG.
 */
struct gs_hook_key {
	gs_u32 client, tsg, pid, pad;
};

/* The policy's answer in a hook. The tap at the system call's exit then does not call it again. */
struct gs_hook_tsg {
	struct gpusched_key key;
	gs_u64 id;
	/* the calling thread (bpf_get_current_pid_tgid()); 0: the policy was not called */
	gs_u64 caller;
	gs_u64 since_ns; /* when the policy was called */
	gs_u32 op;       /* enum gpusched_run_op */
	gs_u32 class_id; /* the TSG's class at that time */
	/*
	 * TIMESLICE_SET: @asked_us: the timeslice that the owner asked for; @set_us: the one that
	 * the driver got instead.
	 */
	gs_u32 asked_us;
	gs_u32 set_us;
	gs_u32 changed; /* 1: a wish has changed */
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
