/* SPDX-License-Identifier: MIT */
/*
 * rest.h - how long the tick rests after a round in which the policy said that nothing is to be
 * done
 *
 * This is the rule of GPUSCHED_TICK_END() in policy.bpf.h, the same on every host; each host has
 * its own clock.
 */
#ifndef GPUSCHED_POLICY_REST_H
#define GPUSCHED_POLICY_REST_H

#include <stdbool.h>

#include "gpusched/policy_types.h"

struct gs_rest {
	uint64_t until_ns; /* 0: it does not rest */
};

/*
 * Converts tick_end()'s result to milliseconds. A round that changed a wish is followed by another.
 */
static inline uint32_t gs_rest_ms(int tick_end, uint64_t changed)
{
	if (tick_end <= 0 || changed)
		return 0;
	return tick_end < GPUSCHED_REST_MAX_MS ? (uint32_t)tick_end : GPUSCHED_REST_MAX_MS;
}

static inline bool gs_rest_is(const struct gs_rest *r, uint64_t now_ns)
{
	return now_ns < r->until_ns;
}

/* Ends the rest: something happened to a TSG. */
static inline void gs_rest_end(struct gs_rest *r)
{
	r->until_ns = 0;
}

#endif /* GPUSCHED_POLICY_REST_H */
