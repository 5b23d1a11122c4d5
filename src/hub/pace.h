/* SPDX-License-Identifier: MIT */
/*
 * pace.h - how long the turns of the loop were, and what the loop did meanwhile
 *
 * A turn's time is work, sleep (for a lock, a disk, the kernel's RCU), or a wait for a processor
 * that others have. The first two are the turn's own.
 */
#ifndef GPUSCHED_HUB_PACE_H
#define GPUSCHED_HUB_PACE_H

#include <stdbool.h>
#include <stdint.h>

struct gs_pace {
	uint64_t longest_ns, longest_cpu_ns, longest_own_ns; /* each the most of any turn */
	bool own_known; /* false: this kernel does not tell it */

	int schedstat; /* of the thread that turns; -1: cannot be read */
	uint64_t began_ns, cpu_ns, queued_ns;
};

/* For the calling thread. */
void gs_pace_init(struct gs_pace *t);
void gs_pace_done(struct gs_pace *t);
void gs_pace_begin(struct gs_pace *t);
void gs_pace_end(struct gs_pace *t);

#endif /* GPUSCHED_HUB_PACE_H */
