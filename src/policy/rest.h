/* SPDX-License-Identifier: MIT */
/*
 * rest.h - decides how long the tick rests, that is, runs no rounds
 *
 * A policy asks for a rest by the result of tick_end(); GPUSCHED_TICK_END() in policy.bpf.h has the
 * rule. It is the same on every host, but each host has its own clock.
 */
#ifndef GPUSCHED_POLICY_REST_H
#define GPUSCHED_POLICY_REST_H

#include <stdbool.h>

#include "gpusched/policy_types.h"

struct gs_rest {
	uint64_t until_ns; /* when the rest ends; 0: the tick does not rest */
};

/* Returns the length of the rest in ms. After a round that changed a wish there is none. */
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

/* Ends the rest, since something happened to a TSG. */
static inline void gs_rest_end(struct gs_rest *r)
{
	r->until_ns = 0;
}

#endif /* GPUSCHED_POLICY_REST_H */
