/* SPDX-License-Identifier: MIT */
/* gsload_arrivals.h - computes when the next request comes */
#ifndef GPUSCHED_LOAD_GSLOAD_ARRIVALS_H
#define GPUSCHED_LOAD_GSLOAD_ARRIVALS_H

#include "load/gsload.h"

struct gsload_schedule {
	const struct gsload_options *o;
	uint64_t rng, last_ns;
};

/* Begins a sequence of arrivals at @start_ns (CLOCK_MONOTONIC). */
struct gsload_schedule gsload_schedule_new(const struct gsload_options *o, uint64_t start_ns);

/*
 * Waits for the next arrival and returns the time at which it is due; that may be in the past.
 * After gsload_arrive_anew(), arrivals that are due already come as planned, and then the sequence
 * begins again. Returns early on gsload_stop.
 */
uint64_t gsload_next_arrival(struct gsload_schedule *s);

/*
 * A request that was due at @at began at @begin and ended at @done. It could have begun at @at. But
 * if the previous request, without the generator's lateness, would have ended later
 * (*inout_free_ns, 0 at first), it could have begun only then. The time from then to @begin is the
 * generator's own lateness; the rest is the GPU's part of the latency.
 */
struct gsload_latency {
	uint64_t gpu_ns, late_ns;
};
struct gsload_latency gsload_latency_of(uint64_t *inout_free_ns, uint64_t at, uint64_t begin,
					uint64_t done);

/* Lets arrivals begin anew. For a signal handler. */
void gsload_arrive_anew(void);

#endif /* GPUSCHED_LOAD_GSLOAD_ARRIVALS_H */
