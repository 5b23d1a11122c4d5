/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * call.h - a program's schedule call, from its entry into the driver to its exit
 *
 * In between, RM finds and accepts caller and TSG; only then is the policy asked. A verdict belongs
 * to the thread that makes the call, and ends with the call.
 */
#ifndef GPUSCHED_CALL_H
#define GPUSCHED_CALL_H

#include "tsg.h"

/* May sleep. */
void call_enter(void);
/* In the hook, under RM's locks: HOLD also while the thread is to wait for wishes to be in force. */
u32 call_verdict(struct tsg *t);
/*
 * Waits as long as the hook said HOLD. 0: the call is over; 1: RM is to be called again, and the
 * hook will give the final verdict; -ERESTARTNOINTR: a signal came.
 */
int call_exit(void);
/* Call it when no hook runs any more. */
void call_stop(void);

#endif /* GPUSCHED_CALL_H */
