/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * act.h - one worker that brings what is to what is wished
 *
 * Wishes are noted anywhere; the worker alone calls RM, outside all locks. What nobody wishes any
 * more is put back to the owner's. Calls for wishes take at most 5 % of the time; to put something
 * back is never delayed, and tried for 10 s.
 */
#ifndef GPUSCHED_ACT_H
#define GPUSCHED_ACT_H

#include "tsg.h"

int act_start(void);
void act_stop(void);

/*
 * @set: bits that @by takes; of those not in @want.valid, @by wishes nothing any more. Waits for
 * nothing. -EINVAL, -ERANGE, -ENODATA, -ENXIO as GPUSCHED_MODULE_SET says; -ETIMEDOUT nobody beats;
 * -ESHUTDOWN no policy runs that could wish.
 */
int act_wish(struct tsg *t, enum wisher by, u32 set, const struct gpusched_settings *want);
/* -ERANGE, and as act_wish() */
int act_preempt(struct tsg *t, enum wisher by, u32 timeout_us);
/* All of @t's or everybody's wishes of @by end. */
void act_unwish(struct tsg *t, enum wisher by);
void act_unwish_all(enum wisher by);
/* It is there no more: no wish is left, and it goes out of the table. */
void act_gone(struct tsg *t);
/* The worker shall look at it. Under tsg_lock. */
void act_look(struct tsg *t);
/* Nothing that was wished for @t is still to be called. Any context. */
bool act_rests(struct tsg *t);
/* Until RM has answered for @t: its error; -EBUSY after 5 s, -EINTR. */
int act_wait(struct tsg *t, u32 *ret_status);
/* The caller is the worker, inside a call of its own: hooks in the driver let it pass. */
bool act_is_me(void);
void act_count(u64 *ret_put_off, u64 *ret_left);

#endif /* GPUSCHED_ACT_H */
