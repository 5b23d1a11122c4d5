/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * call.h - a program's schedule call, from its entry into the driver to its exit
 *
 * The policy is asked only after RM has checked the caller and found the TSG. A verdict belongs to
 * the thread that makes the call, and ends with the call.
 */
#ifndef GPUSCHED_CALL_H
#define GPUSCHED_CALL_H

#include "tsg.h"

/* Begins the call of this thread. May sleep. */
void call_enter(void);
/*
 * For the hook, under RM's locks: returns the verdict. HOLD may also mean that the thread has to
 * wait until wishes are in force.
 */
u32 call_verdict(struct tsg *t);
/*
 * If the hook said HOLD, waits until the policy decides. Returns 0: the call is over; 1: call RM
 * again, and the hook will give the final verdict; -ERESTARTNOINTR: a signal came.
 */
int call_exit(void);
/* Frees everything. No hook may run any more. */
void call_stop(void);

#endif /* GPUSCHED_CALL_H */
