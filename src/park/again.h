/* SPDX-License-Identifier: MIT */
/*
 * again.h - may a process that was parked automatically be parked so again?
 *
 * Pure. While a process is restored, it cannot work. So it is not parked again before ten times the
 * length of its last restore has passed since it was last parked. If a process is wanted back
 * within that time twice in a row, it is never parked automatically again.
 */
#ifndef GPUSCHED_PARK_AGAIN_H
#define GPUSCHED_PARK_AGAIN_H

#include <stdbool.h>
#include <stdint.h>

struct gs_park_again {
	uint64_t not_before_ns;
	unsigned int soon; /* parkings in a row from which the process was wanted back too soon */
};

/* How a process came back that had been parked since @parked_ns. */
struct gs_park_return {
	uint64_t parked_ns;
	uint64_t wanted_ns;  /* when somebody asked for the process */
	uint64_t restore_ns; /* how long the restore took; 0: not known */
};

void gs_park_came_back(struct gs_park_again *a, const struct gs_park_return *r);
/* The process must never be parked automatically again. */
bool gs_park_in_vain(const struct gs_park_again *a);
bool gs_park_may_again(const struct gs_park_again *a, uint64_t now_ns);

#endif /* GPUSCHED_PARK_AGAIN_H */
