/* SPDX-License-Identifier: MIT */
/*
 * slots.h - the slots of the table, through which its programs call the running policy
 *
 * There is one slot for each type of program. A policy that no longer acts is marked as over, and
 * answers nothing. So it may stay in its slot for a while. The loop should not empty slots: the
 * kernel waits for an RCU grace period for each program that calls through the slot, 70 to 90 ms in
 * all. Putting in another policy needs no wait.
 */
#ifndef GPUSCHED_POLICY_SLOTS_H
#define GPUSCHED_POLICY_SLOTS_H

#include "policy/host.h"

/* Puts @p into the slots in place of any other policy. */
int gs_slots_take(struct gs_policy *p);
/* From any thread: empties the slots if @p is in them; otherwise does nothing. */
void gs_slots_leave(struct gs_policy *p);

#endif /* GPUSCHED_POLICY_SLOTS_H */
