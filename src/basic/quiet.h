/* SPDX-License-Identifier: MIT */
/*
 * quiet.h - how long a service has to rest until its request is over
 *
 * Learned from the service's own rests: those between the tokens or layers of a request are short,
 * those between requests are long. Pure: no clock, no memory of its own.
 */
#ifndef GPUSCHED_BASIC_QUIET_H
#define GPUSCHED_BASIC_QUIET_H

#include <stdint.h>

#define GS_QUIET_LEAST_US 1000u
#define GS_QUIET_MOST_US 10000u
/* A request in which nothing was launched for so long is stuck, and counts as over. */
#define GS_REQUEST_MOST_NS 30000000000ull

/* Rests by length, four to an octave from 125 us on. */
#define GS_QUIET_BINS 32u
struct gs_quiet {
	uint32_t bins[GS_QUIET_BINS];
	uint32_t n;
};

/* A rest has ended: from the end of its last work or wait to its next launch. */
void gs_quiet_rest(struct gs_quiet *q, uint64_t rest_ns);
/*
 * A rest of this length ends a request. 0: not known yet, or no length tells the rests in a request
 * from those between requests. The service is never quiet then.
 */
uint32_t gs_quiet_us(const struct gs_quiet *q);

#endif /* GPUSCHED_BASIC_QUIET_H */
