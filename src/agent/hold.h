/* SPDX-License-Identifier: MIT */
/* hold.h - declares the pre-switch, and the hints that start it */
#ifndef GPUSCHED_AGENT_HOLD_H
#define GPUSCHED_AGENT_HOLD_H

#include <stdbool.h>
#include <stdint.h>

/* ---- hold.c: the pre-switch ------------------------------------------------------------------ */

/* Results of hold_begin(), with the texts that gpusched_hint_state() returns. */
#define HOLD_ANSWERS(X) \
	X(MADE, "on") \
	X(NOT_LC, "off: only programs of class lc (gpusched run --agent --class lc)") \
	X(BLIND, "off: launches are not seen, so nothing would end it in time") \
	X(BLOCKING, "off: launches wait for their end (CUDA_LAUNCH_BLOCKING)") \
	X(CAPTURE, "not while a stream is captured") \
	X(SHARE, "not now: its part of the last second is used up") \
	X(BUSY, "not now: one is under way") \
	X(NO_CONTEXT, "not yet: no CUDA context") \
	X(REFUSED, "off: CUDA refused the waiting kernel")
enum hold_answer {
#define X(sym, text) HOLD_##sym,
	HOLD_ANSWERS(X)
#undef X
};

/*
 * Queues a kernel that holds the GPU until hold_release(), for @limit_ns at most. Runs in the
 * program's thread, and takes some 10 us.
 */
enum hold_answer hold_begin(uint64_t limit_ns);
void hold_release(void);
bool hold_is_on(void);
/*
 * Called when @context ends; NULL: an unknown context may end. The agent's objects in it are not
 * used again.
 */
void hold_forget(void *context);
void hold_counts(uint64_t *ret_holds, uint64_t *ret_ns);
void hold_after_fork(void);

/* ---- auto.c: automatic hints ----------------------------------------------------------------- */

void auto_launched(void);

/* ---- hints.c --------------------------------------------------------------------------------- */
void hints_counts(uint64_t *ret_hints, uint64_t *ret_deadline_us);

#endif /* GPUSCHED_AGENT_HOLD_H */
