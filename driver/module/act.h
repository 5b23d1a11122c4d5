/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * act.h - one worker that applies wishes to the settings of TSGs
 *
 * Wishes may be noted in any context. Only the worker calls RM, outside all locks. If a setting has
 * no wish, the owner's value is restored. Calls for wishes take at most 5 % of the time. A restore
 * is never delayed, and is tried for 10 s.
 */
#ifndef GPUSCHED_ACT_H
#define GPUSCHED_ACT_H

#include "tsg.h"

int act_start(void);
void act_stop(void);

/*
 * Notes wishes of @by for the settings in @set; settings that are not in @want.valid lose theirs.
 * Does not wait. -EINVAL, -ERANGE, -ENODATA, -ENXIO as for GPUSCHED_MODULE_SET. -ETIMEDOUT: no
 * holder sends beats. -ESHUTDOWN: @by is the policy, and none runs.
 */
int act_wish(struct tsg *t, enum wisher by, u32 set, const struct gpusched_settings *want);
/* Notes one preemption of @t. -ERANGE, and the errors of act_wish(). */
int act_preempt(struct tsg *t, enum wisher by, u32 timeout_us);
/* Removes all wishes of @by: for @t, or for all TSGs. */
void act_unwish(struct tsg *t, enum wisher by);
void act_unwish_all(enum wisher by);
/* The TSG has ended: removes its wishes, and takes it out of the table. */
void act_gone(struct tsg *t);
/* Has the worker evaluate the TSG. Under tsg_lock. */
void act_look(struct tsg *t);
/* True if no call for @t is left to make: its wishes are in force, or failed. Any context. */
bool act_rests(struct tsg *t);
/* Waits for all calls for @t. Returns the last wish's error; -EBUSY after 5 s; -EINTR. */
int act_wait(struct tsg *t, u32 *ret_status);
/*
 * True if the caller is the worker, inside a call of its own: the driver's hooks let such calls
 * pass.
 */
bool act_is_me(void);
void act_count(u64 *ret_put_off, u64 *ret_left);

#endif /* GPUSCHED_ACT_H */
