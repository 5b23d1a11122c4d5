/* SPDX-License-Identifier: MIT */
/*
 * lane.h - a thread for RM calls for which the loop must not wait
 *
 * A user can keep RM's locks for long: RM frees everything that a process leaves behind in one go.
 * One call at a time; a call that takes too long goes on without its caller.
 */
#ifndef GPUSCHED_ACCOUNT_LANE_H
#define GPUSCHED_ACCOUNT_LANE_H

#include <stddef.h>
#include <stdint.h>

struct gs_lane;
typedef int (*gs_lane_fn)(void *user, void *params);

int gs_lane_new(struct gs_lane **ret);
/*
 * Calls @fn in the thread with a copy of @params. Returns fn's result, with @params as @fn left
 * them. -EBUSY: an earlier call still runs after @wait_ns. -EINPROGRESS: this call still runs, and
 * its result will be dropped. After either, later calls fail at once until the thread is found
 * idle.
 */
int gs_lane_call(struct gs_lane *lane, gs_lane_fn fn, void *user, void *params, size_t size,
		 uint64_t wait_ns);
/* @last (may be NULL) is the last call. After @wait_ns at most, the thread is left to itself. */
void gs_lane_end(struct gs_lane *lane, gs_lane_fn last, void *user, uint64_t wait_ns);

#endif /* GPUSCHED_ACCOUNT_LANE_H */
