/* SPDX-License-Identifier: MIT */
/*
 * agents.h - a daemon and the agents in programs: a page for each, which it tells in (rm/agent.h)
 */
#ifndef GPUSCHED_SERVICE_AGENTS_H
#define GPUSCHED_SERVICE_AGENTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "gpusched/abi.h"

struct gs_service;

/*
 * How much of any second a process's pre-switches may take, which had the GPU for @before_ns in all
 * by the log (0: not known yet), and @span_ns later for @held_ns: half, or nothing after a span of
 * which it had more than half.
 */
static inline uint64_t gs_agents_share_ns(uint64_t before_ns, uint64_t held_ns, uint64_t span_ns)
{
	bool too_much = before_ns && held_ns > before_ns && held_ns - before_ns > span_ns / 2;

	return too_much ? 0 : 500000000ull;
}

/* For a daemon. What fails is logged: agents do without. */
void gs_agents_start(struct gs_service *s);
void gs_agents_end(struct gs_service *s);
/* What its agent told of a compute TSG's process, into its object; nothing where there is none. */
void gs_agents_json(const struct gs_service *s, const struct gpusched_tsg *rec, json_t *o);

#endif /* GPUSCHED_SERVICE_AGENTS_H */
