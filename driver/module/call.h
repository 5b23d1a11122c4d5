/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * call.h - tracks a program's schedule call, from its entry into the driver to its exit
 *
 * The policy is called only after RM has checked the caller and found the TSG. A verdict is valid
 * only for the thread that makes the call, until the call ends.
 */
#ifndef GPUSCHED_CALL_H
#define GPUSCHED_CALL_H

#include "tsg.h"

/* Begins a schedule call of this thread. May sleep. */
void call_enter(void);
/*
 * Called by the hook under RM's locks: returns the verdict. HOLD may also mean that the thread must
 * wait until wishes are in effect.
 */
u32 call_verdict(struct tsg *t);
/*
 * If the hook said HOLD, waits for the policy's final verdict. Returns 0: the call is over; 1: call
 * RM again, and the hook gives that verdict; -ERESTARTNOINTR: a signal came.
 */
int call_exit(void);
/* Frees all entries. No hook may run any more. */
void call_stop(void);

#endif /* GPUSCHED_CALL_H */
