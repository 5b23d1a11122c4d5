/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * gate_call.h - what the gate's program, the taps and a policy's dispatcher share
 */
#ifndef GPUSCHED_TABLE_GATE_CALL_H
#define GPUSCHED_TABLE_GATE_CALL_H

#include "gpusched/abi.h"

#define GS_MAX_STOPPED 4096

/* One thread's call to schedule a TSG, from the gate to the tap at the call's exit. */
struct gs_gate_call {
	struct gpusched_key key; /* of the TSG */
	gs_u64 id;
	gs_u64 ns;
	gs_u64 start_ns; /* of the caller's process */
	gs_u32 tgid;
	gs_u32 class_id; /* that the policy was asked with */
	gs_u32 tid;
	gs_u32 pad;
	gs_u64 asked; /* id of the TSG that the policy was asked about in this call; 0: it was not */
	char comm[GPUSCHED_COMM_LEN];
};

#endif /* GPUSCHED_TABLE_GATE_CALL_H */
