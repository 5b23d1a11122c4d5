/* SPDX-License-Identifier: MIT */
/* hold.h - the pre-switch, and the hints that ask for it */
#ifndef GPUSCHED_AGENT_HOLD_H
#define GPUSCHED_AGENT_HOLD_H

#include <stdbool.h>
#include <stdint.h>

/* ---- hold.c: the pre-switch ------------------------------------------------------------------ */

/* Results of a request for a hold, with the names that gpusched_hint_state() returns. */
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

/* Runs in the program's thread, for some 10 us. The hold ends by itself after @limit_ns. */
enum hold_answer hold_begin(uint64_t limit_ns);
void hold_release(void);
bool hold_is_on(void);
/* @context ends; NULL: some context may end. The agent's objects in it are not used again. */
void hold_forget(void *context);
void hold_counts(uint64_t *ret_holds, uint64_t *ret_ns);
void hold_after_fork(void);

/* ---- auto.c: automatic hints ----------------------------------------------------------------- */

void auto_launched(void);

/* ---- hints.c --------------------------------------------------------------------------------- */
void hints_counts(uint64_t *ret_hints, uint64_t *ret_deadline_us);

#endif /* GPUSCHED_AGENT_HOLD_H */
