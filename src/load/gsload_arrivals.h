/* SPDX-License-Identifier: MIT */
/* gsload_arrivals.h - computes when the next request comes */
#ifndef GPUSCHED_LOAD_GSLOAD_ARRIVALS_H
#define GPUSCHED_LOAD_GSLOAD_ARRIVALS_H

#include "load/gsload.h"

struct gsload_schedule {
	const struct gsload_options *o;
	uint64_t rng, last_ns;
	uint64_t start_ns;
	size_t next;   /* a trace's next arrival */
	uint64_t size; /* of the request that arrived last; 1 without a trace */
};
#define GSLOAD_NEVER UINT64_MAX

/* Makes a sequence of arrivals that begins at @start_ns (CLOCK_MONOTONIC). */
struct gsload_schedule gsload_schedule_new(const struct gsload_options *o, uint64_t start_ns);

/*
 * Waits for the next arrival and returns the time at which it was due; this may be in the past.
 * After gsload_arrive_anew(), arrivals that were due before that call still come, and then the
 * sequence begins again. Returns early if gsload_stop is set. Behind a trace's last arrival, returns
 * GSLOAD_NEVER if the load has a length, else waits for gsload_arrive_anew().
 */
uint64_t gsload_next_arrival(struct gsload_schedule *s);

/*
 * Divides a request's latency. The request was due at @at, began at @begin and ended at @done. A
 * generator that is never late would have begun it at @at, or at the end of its previous request
 * (*inout_free_ns, 0 at first), if that is later. The time from there to @begin is the generator's
 * own lateness; the rest is the GPU's part of the latency.
 */
struct gsload_latency {
	uint64_t gpu_ns, late_ns;
};
struct gsload_latency gsload_latency_of(uint64_t *inout_free_ns, uint64_t at, uint64_t begin,
					uint64_t done);

/* Lets the sequence of arrivals begin again. A signal handler may call this. */
void gsload_arrive_anew(void);

#endif /* GPUSCHED_LOAD_GSLOAD_ARRIVALS_H */
