/* SPDX-License-Identifier: MIT */
/*
 * agents.h - a daemon and the agents in programs: a page for each, which it tells in (wire/agent.h)
 */
#ifndef GPUSCHED_CONTROL_AGENTS_H
#define GPUSCHED_CONTROL_AGENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "gpusched/abi.h"

struct gs_agent_facts;
struct gs_engine_call;
struct gs_control;
struct gpusched_tsg;

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

/*
 * How many launches are believed of an agent that tells of @told, @span_ns after @before: the count
 * never goes back, and grows by one in 100 ns at most, which no program can launch in. Nothing is
 * decided by that number; a sum that people read is not to be spoilt by one number.
 */
static inline uint64_t gs_agents_believed(uint64_t before, uint64_t told, uint64_t span_ns)
{
	uint64_t most = before + span_ns / 100;

	return told < before ? before : told > most ? most : told;
}

/* For a daemon. Failures are logged: agents do without. */
void gs_agents_start(struct gs_control *ctl);
void gs_agents_end(struct gs_control *ctl);
/* The agents that count, and their counts: now, as when the probes begin or end to. */
void gs_agents_look(struct gs_control *ctl);
/* The engine has made a call: the process that lost the GPU may know. */
void gs_agents_call(void *self, const struct gs_engine_call *call);
/* It executed another program: its agent is gone. */
void gs_agents_tapped(void *self, const struct gpusched_event *ev);
/*
 * The launches that a process's agent has counted, of the process's only compute TSG; false: nobody
 * told, or it has several. They are no fact: policies and laws never see them.
 */
bool gs_agents_launches(const struct gs_control *ctl, const struct gpusched_tsg *rec,
			uint64_t *ret_launches);
/* Adds what agents told to @inout, GPUSCHED_MAX_CLASSES of them by class id. */
void gs_agents_by_class(const struct gs_control *ctl, uint64_t *inout);
/* The agent's word on a compute TSG's process; false: none. @ret_counted: its launches, too. */
bool gs_agents_told(const struct gs_control *ctl, const struct gpusched_tsg *rec,
		    struct gs_agent_facts *ret, bool *ret_counted);
/*
 * Requests of a compute TSG, from its process's agent: the rest that ends one (0: not known, or
 * it is never quiet), and whether one is open. false: nobody tells.
 */
bool gs_agents_requests(const struct gs_control *ctl, const struct gpusched_tsg *rec,
			uint32_t *ret_quiet_us, bool *ret_open);

#endif /* GPUSCHED_CONTROL_AGENTS_H */
