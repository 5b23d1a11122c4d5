/* SPDX-License-Identifier: MIT */
/*
 * lane.h - a thread for RM calls that the loop cannot wait for
 *
 * A user can keep RM's locks: RM frees all that a process leaves behind in one go. One call at a
 * time; one that takes too long goes on without its caller.
 */
#ifndef GPUSCHED_ACCOUNT_LANE_H
#define GPUSCHED_ACCOUNT_LANE_H

#include <stddef.h>
#include <stdint.h>

struct gs_lane;
typedef int (*gs_lane_fn)(void *user, void *params);

int gs_lane_new(struct gs_lane **ret);
/*
 * @fn in the thread, with a copy of @params; what it returns, and @params as it left them. -EBUSY:
 * the call before is not over after @wait_ns; -EINPROGRESS: this one is not, and what comes of it is
 * dropped. Once that has happened nobody waits until the thread is seen idle.
 */
int gs_lane_call(struct gs_lane *lane, gs_lane_fn fn, void *user, void *params, size_t size,
		 uint64_t wait_ns);
/* @last (may be NULL) is the last call; after @wait_ns at most the thread is left to itself. */
void gs_lane_end(struct gs_lane *lane, gs_lane_fn last, void *user, uint64_t wait_ns);

#endif /* GPUSCHED_ACCOUNT_LANE_H */
