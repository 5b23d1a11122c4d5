/* SPDX-License-Identifier: MIT */
/*
 * quiet.h - learns how long a rest of a service has to be to end its request
 *
 * It learns from rests of the service: those between the tokens or layers of a request are short,
 * and those between requests are long. The last two requests suffice if they are clear, and overrule
 * what was learned before. So it does not matter that the program has loaded weights for a minute.
 * Pure: no clock, no memory of its own.
 */
#ifndef GPUSCHED_BASIC_QUIET_H
#define GPUSCHED_BASIC_QUIET_H

#include <stdint.h>

#include "basic/quiet_bins.h"

/* If a request launches nothing for this long, it is stuck, and counts as over. */
#define GS_REQUEST_MOST_NS 30000000000ull

/*
 * Takes a rest that has ended: the time from the end of the last work or wait to the next launch.
 */
void gs_quiet_rest(struct gs_quiet *q, uint64_t rest_ns);
/*
 * The length of a rest that ends a request. 0: unknown yet, or no length separates the rests within
 * a request from those between requests. Then the service counts as never quiet.
 */
uint32_t gs_quiet_us(const struct gs_quiet *q);

#endif /* GPUSCHED_BASIC_QUIET_H */
