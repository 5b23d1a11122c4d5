/* SPDX-License-Identifier: MIT */
/*
 * progress.h - estimates how many bytes the current copy has moved
 *
 * libcuda reports nothing before a copy ends. So the estimate uses two signs: the process's memory
 * on the GPUs as the driver counts it, and the process's resident memory. A thread reads these two.
 */
#ifndef GPUSCHED_PARK_PROGRESS_H
#define GPUSCHED_PARK_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "park/call.h"

struct gs_task;
struct gs_hub;

#define GS_PARK_MOVED_UNKNOWN UINT64_MAX

struct gs_park_look {
	bool held_known, resident_known;
	uint64_t held, resident; /* bytes on the GPUs; bytes on the host */
};

struct gs_park_progress {
	struct gs_task *reading;    /* the thread that takes a sample; NULL: none runs */
	struct gs_park_request of;  /* the call that is observed; op HELLO: none */
	uint64_t began_ns, next_ns; /* begin of that call; no sample before @next_ns */
	uint64_t looked_ns;         /* time of @last; 0: no sample yet */
	struct gs_park_look first, last;
};

/*
 * Pure. Returns the bytes that the call @op (OUT or IN) moved between two samples. During OUT
 * either sign may lag, so the larger change counts. During IN memory may be allocated before it is
 * filled, so the smaller change counts if the two signs have changed.
 */
uint64_t gs_park_progress_moved(enum gs_park_op op, const struct gs_park_look *first,
				const struct gs_park_look *now);

/* Reports that the call @of begins now. Only OUT and IN are observed. */
void gs_park_progress_begin(struct gs_park_progress *g, struct gs_hub *hub,
			    const struct gs_park_request *of);
/* Takes a sample when the pause is over. */
void gs_park_progress_beat(struct gs_park_progress *g, struct gs_hub *hub);
/* Returns the bytes moved until g->looked_ns, or GS_PARK_MOVED_UNKNOWN. */
uint64_t gs_park_progress_bytes(const struct gs_park_progress *g);
void gs_park_progress_end(struct gs_park_progress *g);

#endif /* GPUSCHED_PARK_PROGRESS_H */
