/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * gate_call.h - defines data shared by the gate's program, the taps and a policy's dispatcher
 */
#ifndef GPUSCHED_TABLE_GATE_CALL_H
#define GPUSCHED_TABLE_GATE_CALL_H

#include "gpusched/abi.h"

#define GS_MAX_STOPPED 4096

/* One thread's call to schedule a TSG. The gate writes it; the tap at the call's exit reads it. */
struct gs_gate_call {
	struct gpusched_key key; /* key of the TSG */
	gs_u64 id;
	gs_u64 ns;
	gs_u64 start_ns; /* start of the caller's process */
	gs_u32 tgid;
	gs_u32 class_id; /* class of the TSG when the policy was called */
	gs_u32 tid;
	gs_u32 pad;
	/* Id of the TSG for which the policy was called in this call; 0: it was not called. */
	gs_u64 asked;
	char comm[GPUSCHED_COMM_LEN];
};

#endif /* GPUSCHED_TABLE_GATE_CALL_H */
