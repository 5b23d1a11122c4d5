/* SPDX-License-Identifier: MIT */
/*
 * progress.h - how far the current copy has come, as seen from outside
 *
 * libcuda tells nothing before a copy ends. So this is an estimate from two signs: the process's
 * memory on the GPUs as the driver counts it, and the process's resident memory. A thread reads
 * both.
 */
#ifndef GPUSCHED_PARK_PROGRESS_H
#define GPUSCHED_PARK_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "park/call.h"

struct gs_errand;
struct gs_hub;

#define GS_PARK_MOVED_UNKNOWN UINT64_MAX

struct gs_park_look {
	bool held_known, resident_known;
	uint64_t held, resident; /* bytes on the GPUs; bytes on the host */
};

struct gs_park_progress {
	struct gs_errand *reading; /* NULL: no reading is under way */
	struct gs_park_request of; /* the call that is followed; op HELLO: none */
	uint64_t began_ns, next_ns;
	uint64_t looked_ns; /* time of @last; 0: no sample yet */
	struct gs_park_look first, last;
};

/*
 * Pure. Bytes that the call @op (OUT or IN) moved between two samples. On the way out either sign
 * may lag, so the larger change counts. On the way in memory may be allocated before it is filled,
 * so the smaller change counts if both signs have moved.
 */
uint64_t gs_park_moved(enum gs_park_op op, const struct gs_park_look *first,
		       const struct gs_park_look *now);

/* The call @of begins now. Following ends with any op other than OUT and IN. */
void gs_park_progress_begin(struct gs_park_progress *g, struct gs_hub *hub,
			    const struct gs_park_request *of);
/* Takes a sample when the pause is over. */
void gs_park_progress_beat(struct gs_park_progress *g, struct gs_hub *hub);
/* Bytes moved until g->looked_ns, or GS_PARK_MOVED_UNKNOWN. */
uint64_t gs_park_progress_bytes(const struct gs_park_progress *g);
void gs_park_progress_end(struct gs_park_progress *g);

#endif /* GPUSCHED_PARK_PROGRESS_H */
