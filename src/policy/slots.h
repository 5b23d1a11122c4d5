/* SPDX-License-Identifier: MIT */
/*
 * slots.h - the slots of the table, through which its programs reach the running policy
 *
 * There is one for each type of program. A policy that is in a slot without being the one that acts
 * is marked as over, and answers nothing. So a slot need not be emptied at once, and it had better
 * not be in the loop: the kernel waits for one RCU grace period at each program that calls through
 * the slot, 70 to 90 ms in all. To put another one in waits for none.
 */
#ifndef GPUSCHED_POLICY_SLOTS_H
#define GPUSCHED_POLICY_SLOTS_H

#include "policy/host.h"

/* @p takes the place of whichever policy is there. */
int gs_slots_take(struct gs_policy *p);
/* From any thread: empties the slots if @p is in them, and leaves them alone otherwise. */
void gs_slots_leave(struct gs_policy *p);

#endif /* GPUSCHED_POLICY_SLOTS_H */
