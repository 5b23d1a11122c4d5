/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * thread.h - what the kernel remembers of a thread that uses CUDA, to say which TSG a launch is for
 */
#ifndef GPUSCHED_TABLE_THREAD_H
#define GPUSCHED_TABLE_THREAD_H

#include "gpusched/abi.h"

#define GS_CTX_STACK 8

/* One TSG, told from a later one with the same key. */
struct gs_tsg_ref {
	struct gpusched_key key;
	gs_u64 id; /* 0: none */
};

/*
 * A thread that uses CUDA; lives as long as the thread. The tap of new TSGs writes made and nmade
 * while @making is set, the launch probes all else. Only the thread itself runs these programs.
 */
struct gs_thread {
	gs_u64 exec_id; /* another program is executed: nothing below holds */
	gs_u32 session; /* counting was off in between: the same */
	gs_u32 making;  /* calls that make a context under way, nested */
	gs_u32 nmade;   /* compute TSGs made in them */
	gs_u32 depth;   /* of the stack; may pass its end */
	struct gs_tsg_ref made;
	gs_u64 out;                 /* where the call will write the context's handle */
	gs_u64 stack[GS_CTX_STACK]; /* current contexts, the innermost last */
	gs_u64 cached;              /* context that @tsg is of */
	struct gs_tsg_ref tsg;
	struct gs_tsg_ref work; /* for the policy's dispatcher: what is being launched, on what */
	gs_u64 work_ns;
	gs_u32 work_kind; /* enum gpusched_work_kind */
	gs_u32 tgid;
};

#endif /* GPUSCHED_TABLE_THREAD_H */
