/* SPDX-License-Identifier: MIT */
/*
 * lane.h - makes RM calls in a thread, so that the event loop does not wait for them
 *
 * A call can block for long: when a process exits, RM holds its locks until it has freed everything
 * that the process left behind. A lane makes one call at a time. The caller of a call that takes
 * too long stops waiting, and the call goes on in the thread.
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
/*
 * Ends the lane after a last call, @last (may be NULL). If the thread is still busy after @wait_ns,
 * this returns, and the thread frees the lane later.
 */
void gs_lane_end(struct gs_lane *lane, gs_lane_fn last, void *user, uint64_t wait_ns);

#endif /* GPUSCHED_ACCOUNT_LANE_H */
