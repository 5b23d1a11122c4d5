/* SPDX-License-Identifier: MIT */
/*
 * progress.h - how far a copy has come that is under way, as it looks from outside
 *
 * libcuda tells nothing before it ends. So this is an estimate from two signs: the memory that the
 * driver counts as the process's, and the process's resident memory. A thread reads them.
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
	uint64_t held, resident; /* bytes: of the GPUs, of the host */
};

struct gs_park_progress {
	struct gs_errand *reading; /* NULL: none is under way */
	struct gs_park_request of; /* the call; op HELLO: none */
	uint64_t began_ns, next_ns;
	uint64_t looked_ns; /* 0: not yet */
	struct gs_park_look first, last;
};

/*
 * Pure. Bytes that OUT or IN has moved between two looks. On the way out each sign may come late, so
 * the larger one counts. On the way in memory may be allocated before it is filled. So the smaller
 * one counts there, if both have moved.
 */
uint64_t gs_park_moved(enum gs_park_op op, const struct gs_park_look *first,
		       const struct gs_park_look *now);

/* That call begins now; another op than OUT and IN ends what was followed before. */
void gs_park_progress_begin(struct gs_park_progress *g, struct gs_hub *hub,
			    const struct gs_park_request *of);
/* Looks again when it is time. */
void gs_park_progress_beat(struct gs_park_progress *g, struct gs_hub *hub);
/* Until g->looked_ns. */
uint64_t gs_park_progress_bytes(const struct gs_park_progress *g);
void gs_park_progress_end(struct gs_park_progress *g);

#endif /* GPUSCHED_PARK_PROGRESS_H */
