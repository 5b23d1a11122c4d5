/* SPDX-License-Identifier: MIT */
/*
 * calm.h - asks the history how long services wait for the GPU in their calm minutes
 *
 * A process's calm minutes are the quarter of its minutes in the last day with the shortest waits.
 */
#ifndef GPUSCHED_REQUESTS_CALM_H
#define GPUSCHED_REQUESTS_CALM_H

#include <stddef.h>
#include <stdint.h>

struct gs_calm;
struct gs_requests;

#define GS_CALM_MAX 8 /* processes looked up for one request */
struct gs_calm_of {
	uint64_t tsg; /* id of a TSG of the process */
	int32_t pid;
	double pct; /* result: share of calm minutes spent waiting; NAN: unknown */
};

/*
 * Looks the processes up in a separate thread, which then passes the results on by
 * gs_window_put_calm(). Returns -EBUSY while another query of the history runs, and -ENOTSUP if
 * the instance keeps no history.
 */
int gs_calm_begin(struct gs_requests *rs, const struct gs_calm_of *all, size_t n,
		  struct gs_calm **ret);
int gs_calm_is_over(const struct gs_calm *c);
void gs_calm_unref(struct gs_calm *c);

#endif /* GPUSCHED_REQUESTS_CALM_H */
