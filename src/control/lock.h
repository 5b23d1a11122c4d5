/* SPDX-License-Identifier: MIT */
/*
 * lock.h - takes the right to act, if need be in place of a daemon that does not respond
 */
#ifndef GPUSCHED_CONTROL_LOCK_H
#define GPUSCHED_CONTROL_LOCK_H

#include <stdbool.h>

#include "basic/error.h"

/* True if a daemon listens on the socket, whether it responds or not. */
bool gs_service_lock_has_daemon(void);
/*
 * Takes the instance's lock; its holder may act. Waits a moment for a guardian at work or another
 * command. Returns -EBUSY if a daemon has the lock, or if the wait was in vain.
 */
int gs_service_lock(int *ret_fd, struct gs_error *err);
/*
 * For a restore in place of a daemon that has the lock and no heartbeat. If the daemon goes on
 * later, it drops its plans. -EBUSY: the daemon responds, or another process has taken over.
 */
int gs_service_lock_overtake(int *ret_fd, struct gs_error *err);

#endif /* GPUSCHED_CONTROL_LOCK_H */
