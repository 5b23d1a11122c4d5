/* SPDX-License-Identifier: MIT */
/*
 * lock.h - the right to act on an instance, and on a table
 */
#ifndef GPUSCHED_ENGINE_LOCK_H
#define GPUSCHED_ENGINE_LOCK_H

#include "basic/error.h"

/* The instance's lock: one daemon or one command that acts. -EBUSY with the holder's pid. */
int gs_lock_take(int *ret_fd, struct gs_error *err);
/*
 * The same for the table itself: its folder of pins, so that two do not act on one table though the
 * lock's own folder has been moved. Again after the table was made or upgraded: the folder may be
 * another one then. *inout_fd: -1 at first. -EBUSY: somebody else has it.
 */
int gs_lock_table(int *inout_fd, struct gs_error *err);
/*
 * Beside it: to put everything back in place of a daemon that has the lock and does not answer. The
 * holder calls gs_cfg_next_epoch() before anything else. -EBUSY: another one has it.
 */
int gs_lock_overtake(int *ret_fd, struct gs_error *err);

#endif /* GPUSCHED_ENGINE_LOCK_H */
