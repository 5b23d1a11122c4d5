/* SPDX-License-Identifier: MIT */
/*
 * lock.h - takes the locks that give the right to act on an instance and on a table
 */
#ifndef GPUSCHED_ENGINE_LOCK_H
#define GPUSCHED_ENGINE_LOCK_H

#include "basic/error.h"

/*
 * The instance's lock: held by one daemon, or one command that acts. -EBUSY with the holder's pid.
 */
int gs_lock_take(int *ret_fd, struct gs_error *err);
/*
 * Locks the table itself, by its folder of pins. So two processes cannot act on one table even if
 * the folder of the instance's lock has been moved. Call this again after the table was made or
 * upgraded, since it may be in a new folder. *inout_fd: -1 at first. -EBUSY: another process has
 * the lock.
 */
int gs_lock_table(int *inout_fd, struct gs_error *err);
/*
 * The second lock: for a restore in place of a daemon that has the first lock and does not respond.
 * The holder calls gs_cfg_next_epoch() before anything else. -EBUSY: another process has the lock.
 */
int gs_lock_overtake(int *ret_fd, struct gs_error *err);

#endif /* GPUSCHED_ENGINE_LOCK_H */
