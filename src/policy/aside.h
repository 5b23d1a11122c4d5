/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * aside.h - runs a policy's callback for a caller other than the taps: gpusched.ko
 *
 * The function is in glue_stock.bpf.c. Its caller is driver/loader/glue.bpf.c, which is linked with
 * it.
 */
#ifndef GPUSCHED_POLICY_ASIDE_H
#define GPUSCHED_POLICY_ASIDE_H

#include "gpusched/policy_types.h"
#include "table/maps.bpf.h"

#define GS_ASIDE_CHANGED (1ull << 32) /* a wish has changed */
#define GS_ASIDE_UNASKED (1ull << 33)

/* @op: enum gpusched_run_op. The result's lower 32 bits: what the callback returned. */
gs_u64 gs_decide_aside(struct gpusched_tsg *rec, gs_u32 op, gs_u64 arg);

/* 1: the policy has failed, or was stopped. */
int gs_aside_over(void);

/*
 * Host hooked: names a record by facts that the driver's hooks know. @pid is the process that made
 * the TSG, as the kernel tells both sides. So no process can pretend to have another one's TSG.
 */
struct gs_hook_key {
	gs_u32 client, tsg, pid, pad;
};

/* The policy's answer in a hook, so that the tap at that call's exit does not ask it again. */
struct gs_hook_tsg {
	struct gpusched_key key;
	gs_u64 id;
	/* the thread that called (bpf_get_current_pid_tgid()); 0: the policy was not asked */
	gs_u64 caller;
	gs_u64 since_ns; /* when it was asked */
	gs_u32 op;       /* enum gpusched_run_op */
	gs_u32 class_id; /* the class with which it was asked */
	/*
	 * TIMESLICE_SET: the timeslice that the owner asked for, and the one that the driver got
	 * instead.
	 */
	gs_u32 asked_us;
	gs_u32 set_us;
	gs_u32 changed; /* a wish has changed since then */
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
