/* SPDX-License-Identifier: MIT */
/*
 * pace.h - measures how long the loop's iterations take, and where the time goes
 *
 * An iteration's time is work, sleep (for a lock, a disk, the kernel's RCU), or a wait for a busy
 * processor. Work and sleep are the iteration's own time.
 */
#ifndef GPUSCHED_HUB_PACE_H
#define GPUSCHED_HUB_PACE_H

#include <stdbool.h>
#include <stdint.h>

struct gs_pace {
	/* The maximum of each over all iterations. */
	uint64_t longest_ns, longest_cpu_ns, longest_own_ns;
	bool own_known; /* false: this kernel does not report run queue time */

	int schedstat;               /* /proc file of the loop's thread; -1: cannot be read */
	uint64_t began_ns, ended_ns; /* of the last iteration */
	uint64_t cpu_ns, queued_ns, read_ns; /* @read_ns: when @queued_ns was read */
};

/* Measures the calling thread. */
void gs_pace_init(struct gs_pace *t);
void gs_pace_done(struct gs_pace *t);
void gs_pace_begin(struct gs_pace *t);
void gs_pace_end(struct gs_pace *t);

#endif /* GPUSCHED_HUB_PACE_H */
