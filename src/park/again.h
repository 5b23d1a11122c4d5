/* SPDX-License-Identifier: MIT */
/*
 * again.h - decides when a process may be parked automatically again
 *
 * Pure. While a process is restored, it cannot work. So it is not parked again until ten times the
 * length of its last restore has passed since its last parking. If a process has to come back
 * within that time twice in a row, it is never parked automatically again.
 */
#ifndef GPUSCHED_PARK_AGAIN_H
#define GPUSCHED_PARK_AGAIN_H

#include <stdbool.h>
#include <stdint.h>

struct gs_park_again {
	uint64_t not_before_ns;
	unsigned int soon; /* parkings in a row from which the process had to come back too soon */
};

/* The times of one parking, from which the process came back. */
struct gs_park_return {
	uint64_t parked_ns;  /* when the process was parked */
	uint64_t wanted_ns;  /* when its return was requested */
	uint64_t restore_ns; /* how long the restore took; 0: unknown */
};

void gs_park_again_came_back(struct gs_park_again *a, const struct gs_park_return *r);
/* Returns true if the process must never be parked automatically again. */
bool gs_park_again_in_vain(const struct gs_park_again *a);
bool gs_park_may_again(const struct gs_park_again *a, uint64_t now_ns);

#endif /* GPUSCHED_PARK_AGAIN_H */
