/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * thread.h - what the kernel remembers of a thread that uses CUDA, to find a launch's TSG
 */
#ifndef GPUSCHED_TABLE_THREAD_H
#define GPUSCHED_TABLE_THREAD_H

#include "gpusched/abi.h"

#define GS_CTX_STACK 8

/* Names one TSG: the id tells it from a later one with the same key. */
struct gs_tsg_ref {
	struct gpusched_key key;
	gs_u64 id; /* 0: none */
};

/*
 * A thread that uses CUDA; kept as long as the thread lives. The tap of new TSGs writes made and
 * nmade while @making is set; launch probes write the rest. Only the thread itself runs these
 * programs.
 */
struct gs_thread {
	gs_u64 exec_id; /* after an exec the value differs, and everything below is invalid */
	/* after counting was off, the value differs, and everything below is invalid */
	gs_u32 session;
	gs_u32 making; /* nested calls under way, each of which makes a context */
	gs_u32 nmade;  /* compute TSGs made in those calls */
	gs_u32 depth;  /* depth of @stack; may exceed its size */
	struct gs_tsg_ref made;
	gs_u64 out;                 /* where the call will write the context's handle */
	gs_u64 stack[GS_CTX_STACK]; /* current contexts, the innermost last */
	gs_u64 cached;              /* the context to which @tsg belongs */
	struct gs_tsg_ref tsg;
	struct gs_tsg_ref work; /* for the policy's dispatcher: the present launch and its TSG */
	gs_u64 work_ns;
	gs_u32 work_kind; /* enum gpusched_work_kind */
	gs_u32 tgid;
};

#endif /* GPUSCHED_TABLE_THREAD_H */
