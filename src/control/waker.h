/* SPDX-License-Identifier: MIT */
/*
 * waker.h - lets a program wake the loop, without the loop reading what the program writes
 *
 * The program gets one end of a pair of sockets; only the daemon has the other. The file flags of
 * one end do not concern the other. An edge wakes the loop. The bytes are read in the user's lane,
 * since that wakes all waiters at the program's end (hub/lanes.h).
 */
#ifndef GPUSCHED_CONTROL_WAKER_H
#define GPUSCHED_CONTROL_WAKER_H

#include "hub/lanes.h"

struct gs_waker;

/*
 * Makes a waker. Takes @peer, a connection of @uid, if it succeeds: the lane sends the program
 * @word and two descriptors there, and closes it. The first is @fd, which is taken, too. A write
 * to the second wakes the loop. 0 or -errno.
 */
int gs_waker_new(struct gs_lanes *lanes, uid_t uid, int peer, uint32_t word, int fd,
		 struct gs_waker **ret);
void gs_waker_free(struct gs_waker *w);
/* The daemon's end. */
int gs_waker_fd(const struct gs_waker *w);
/* The program has written. */
void gs_waker_woken(struct gs_waker *w);
/* Has the lane read what the program has written. Call it once a second. */
void gs_waker_drain(struct gs_waker *w);

#endif /* GPUSCHED_CONTROL_WAKER_H */
