/* SPDX-License-Identifier: MIT */
/*
 * lock.h - the right to act: of the holder of the instance's lock, or in place of a daemon that
 * does not answer
 */
#ifndef GPUSCHED_CONTROL_LOCK_H
#define GPUSCHED_CONTROL_LOCK_H

#include <stdbool.h>

#include "basic/error.h"

/* One listens on the socket, whether it answers or not. */
bool gs_service_has_daemon(void);
/*
 * The instance's lock; its holder may act. Waits a moment for a guardian at work or for another
 * command; -EBUSY beside a daemon.
 */
int gs_service_lock(int *ret_fd, struct gs_error *err);
/*
 * To put everything back in place of a daemon that has the lock and whose heart does not beat. Its
 * plans are dropped when it goes on. -EBUSY: it lives, or another one is at it.
 */
int gs_service_overtake(int *ret_fd, struct gs_error *err);

#endif /* GPUSCHED_CONTROL_LOCK_H */
