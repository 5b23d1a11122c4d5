/* SPDX-License-Identifier: MIT */
/*
 * watched.h - watches processes for requests, by their counted launches and waits
 *
 * When a request begins, the probes emit the event GPUSCHED_EV_REQUEST, at most 200 times a second
 * for each process. rests.h says what a rest is.
 */
#ifndef GPUSCHED_LAUNCH_WATCHED_H
#define GPUSCHED_LAUNCH_WATCHED_H

#include <stdint.h>
#include <sys/types.h>

#include "launch/rests.h"

struct gs_launches;

/* Begin and end the watch of a process. 0 or -errno; -E2BIG: too many are watched. */
int gs_watched_add(const struct gs_launches *l, pid_t pid);
void gs_watched_drop(const struct gs_launches *l, pid_t pid);
/* Returns the process's launches, waits and rests so far. -ENOENT: it is not watched. */
int gs_watched_get(const struct gs_launches *l, pid_t pid, struct gs_rests *ret);
/* Sets the length of the rest that ends a request; 0: unknown, so there are no events. */
int gs_watched_quiet(const struct gs_launches *l, pid_t pid, uint32_t quiet_us);

#endif /* GPUSCHED_LAUNCH_WATCHED_H */
