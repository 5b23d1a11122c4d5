/* SPDX-License-Identifier: MIT */
/*
 * slots.h - puts the running policy into the slots through which the table's programs call it
 *
 * A slot is a program array with one element; taps, launch probes and gate have one each. A policy
 * that no longer acts is marked as over, and does nothing when called, so it may stay in its slots
 * for a while. The main loop should not empty slots: for each program that calls through a slot the
 * kernel waits for an RCU grace period, 70 to 90 ms in all. Putting in another policy does not
 * wait.
 */
#ifndef GPUSCHED_POLICY_SLOTS_H
#define GPUSCHED_POLICY_SLOTS_H

#include "policy/host.h"

/* Puts @p into the slots in place of any other policy. */
int gs_slots_take(struct gs_policy *p);
/* Empties the slots if @p is in them; otherwise does nothing. Any thread may call this. */
void gs_slots_leave(struct gs_policy *p);

#endif /* GPUSCHED_POLICY_SLOTS_H */
