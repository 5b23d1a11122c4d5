/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * act.h - applies wishes to the settings of TSGs, by one worker
 *
 * A wish is a setting that the policy or the holder of /dev/gpusched wants. Wishes may be made in
 * any context. Only the worker calls RM, outside all locks. A setting without a wish gets the
 * owner's value back. Calls for wishes take at most 5 % of the time. A restore is never delayed for
 * that. It is tried once a second for 10 s, then once a minute; when the module goes, for 10 s.
 */
#ifndef GPUSCHED_ACT_H
#define GPUSCHED_ACT_H

#include "tsg.h"

int act_start(void);
void act_stop(void);

/*
 * Makes wishes of @by for the settings in @set. Removes @by's wish for each of these that is not in
 * @want.valid. Does not wait. -EINVAL, -ERANGE, -ENODATA, -ENXIO as for GPUSCHED_MODULE_SET.
 * -ETIMEDOUT: no holder sends heartbeats. -ESHUTDOWN: @by is the policy, and no policy runs.
 */
int act_wish(struct tsg *t, enum wisher by, u32 set, const struct gpusched_settings *want);
/* Requests one preemption of @t. -ERANGE, and the errors of act_wish(). */
int act_preempt(struct tsg *t, enum wisher by, u32 timeout_us);
/* Remove all wishes of @by, for @t or for all TSGs. */
void act_unwish(struct tsg *t, enum wisher by);
void act_unwish_all(enum wisher by);
/* Call this when the TSG has ended: removes its wishes, and takes it out of the table. */
void act_gone(struct tsg *t);
/* Makes the worker look at the TSG. The caller holds tsg_lock. */
void act_look(struct tsg *t);
/* True if no call for @t is left to make: its wishes are in effect or have failed. Any context. */
bool act_rests(struct tsg *t);
/*
 * Waits for all calls for @t. Returns the error of the last wish; -EBUSY: still busy after 5 s;
 * -EINTR.
 */
int act_wait(struct tsg *t, u32 *ret_status);
/* True if the caller is the worker during one of its own calls. The hooks let such calls pass. */
bool act_is_me(void);
void act_count(u64 *ret_put_off, u64 *ret_left);

#endif /* GPUSCHED_ACT_H */
