/* SPDX-License-Identifier: MIT */
/* gsload_arrivals.h - computes when the next request comes */
#ifndef GPUSCHED_LOAD_GSLOAD_ARRIVALS_H
#define GPUSCHED_LOAD_GSLOAD_ARRIVALS_H

#include "load/gsload.h"

struct gsload_schedule {
	const struct gsload_options *o;
	uint64_t rng, last_ns;
};

/* Arrivals from @start_ns on (CLOCK_MONOTONIC). */
struct gsload_schedule gsload_schedule_new(const struct gsload_options *o, uint64_t start_ns);

/*
 * Waits for the next arrival and returns its due time, which may be in the past. After
 * gsload_arrive_anew(), arrivals due before that come as planned, and then the sequence begins
 * again. Returns early on gsload_stop.
 */
uint64_t gsload_next_arrival(struct gsload_schedule *s);

/*
 * A request that was due at @at began at @begin and ended at @done. It could have begun at @at, or
 * when the previous request would have ended without lateness (*inout_free_ns, 0 at first). The
 * time after that is the generator's own lateness; the rest is the GPU's part of its latency.
 */
struct gsload_latency {
	uint64_t gpu_ns, late_ns;
};
struct gsload_latency gsload_latency_of(uint64_t *inout_free_ns, uint64_t at, uint64_t begin,
					uint64_t done);

/* For a signal handler. */
void gsload_arrive_anew(void);

#endif /* GPUSCHED_LOAD_GSLOAD_ARRIVALS_H */
