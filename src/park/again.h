/* SPDX-License-Identifier: MIT */
/*
 * again.h - may a process that was parked by itself be parked so once more?
 *
 * Pure. A restore costs its program as long as it takes. So the next parking comes at least ten
 * times as long after the last one. A program that was wanted back sooner than that twice in a row
 * is not parked by itself any more.
 */
#ifndef GPUSCHED_PARK_AGAIN_H
#define GPUSCHED_PARK_AGAIN_H

#include <stdbool.h>
#include <stdint.h>

struct gs_park_again {
	uint64_t not_before_ns;
	unsigned int soon; /* times in a row that it was wanted back too soon */
};

/* How it came back from a parking that had ended at @parked_ns. */
struct gs_park_return {
	uint64_t parked_ns;
	uint64_t wanted_ns;  /* when somebody asked for it */
	uint64_t restore_ns; /* how long that took; 0: not known */
};

void gs_park_came_back(struct gs_park_again *a, const struct gs_park_return *r);
/* Never more, whatever the time. */
bool gs_park_in_vain(const struct gs_park_again *a);
bool gs_park_may_again(const struct gs_park_again *a, uint64_t now_ns);

#endif /* GPUSCHED_PARK_AGAIN_H */
