/* SPDX-License-Identifier: MIT */
/*
 * watched.h - processes that are watched for requests: counted launches and waits show when one
 * begins, and since when the process rests
 *
 * A begin comes as event GPUSCHED_EV_REQUEST, at most 200 times a second and process.
 */
#ifndef GPUSCHED_LAUNCH_WATCHED_H
#define GPUSCHED_LAUNCH_WATCHED_H

#include <stdint.h>
#include <sys/types.h>

#include "launch/rests.h"

struct gs_launches;

/* Watches a process from now on, or no longer. 0 or -errno; -E2BIG: too many are watched. */
int gs_watched_add(const struct gs_launches *l, pid_t pid);
void gs_watched_drop(const struct gs_launches *l, pid_t pid);
/* Its launches, waits and rests so far. -ENOENT: it is not watched. */
int gs_watched_get(const struct gs_launches *l, pid_t pid, struct gs_rests *ret);
/* A rest of this length ends a request; 0: unknown, so there are no events. */
int gs_watched_quiet(const struct gs_launches *l, pid_t pid, uint32_t quiet_us);

#endif /* GPUSCHED_LAUNCH_WATCHED_H */
