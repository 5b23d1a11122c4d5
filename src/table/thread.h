/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * thread.h - describes a thread that uses CUDA, to find a launch's TSG
 */
#ifndef GPUSCHED_TABLE_THREAD_H
#define GPUSCHED_TABLE_THREAD_H

#include "gpusched/abi.h"

#define GS_CTX_STACK 8

/* Names one TSG. The id distinguishes it from a later TSG with the same key. */
struct gs_tsg_ref {
	struct gpusched_key key;
	gs_u64 id; /* 0: none */
};

/*
 * State of a thread that uses CUDA; exists as long as the thread. The tap of new TSGs writes @made
 * and @nmade while @making is not 0; launch probes write the rest. Only the thread itself runs
 * these programs, so there are no races.
 */
struct gs_thread {
	gs_u64 exec_id; /* differs after an exec, which makes everything below invalid */
	/* differs after launch counting was off, which makes everything below invalid */
	gs_u32 session;
	gs_u32 making; /* nesting depth of the current calls that make a context */
	gs_u32 nmade;  /* number of compute TSGs made in those calls */
	gs_u32 depth;  /* depth of @stack; may exceed its size */
	struct gs_tsg_ref made;
	gs_u64 out;                 /* where the current call will write the context's handle */
	gs_u64 stack[GS_CTX_STACK]; /* current contexts, the innermost last */
	gs_u64 cached;              /* the context for which @tsg was found */
	struct gs_tsg_ref tsg;
	struct gs_tsg_ref work; /* for the policy's dispatcher: TSG of the current launch */
	gs_u64 work_ns;
	gs_u32 work_kind; /* enum gpusched_work_kind */
	gs_u32 tgid;
};

#endif /* GPUSCHED_TABLE_THREAD_H */
