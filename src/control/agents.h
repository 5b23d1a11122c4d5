/* SPDX-License-Identifier: MIT */
/*
 * agents.h - shares a page with each agent in a program (wire/agent.h)
 */
#ifndef GPUSCHED_CONTROL_AGENTS_H
#define GPUSCHED_CONTROL_AGENTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "gpusched/abi.h"
#include "hub/processes.h"

struct gs_agent_facts;
struct gs_told_requests;
struct gs_engine_call;
struct gs_control;
struct gpusched_tsg;

/*
 * Returns how many ns of a second a process's pre-switches may take: half a second. Returns 0 if
 * the process had the GPU for more than half of the last @span_ns. @before_ns (0: unknown) and
 * @held_ns: its GPU time by the log at the beginning and the end of that span.
 */
static inline uint64_t gs_agents_share_ns(uint64_t before_ns, uint64_t held_ns, uint64_t span_ns)
{
	bool too_much = before_ns && held_ns > before_ns && held_ns - before_ns > span_ns / 2;

	return too_much ? 0 : 500000000ull;
}

/*
 * Returns the number of launches to believe if an agent reports @told, @span_ns after @before. The
 * count never goes back. It grows by at most one in 100 ns, which no program can exceed. Nothing is
 * decided by this number, but one wrong number must not spoil a sum that people read.
 */
static inline uint64_t gs_agents_believed(uint64_t before, uint64_t told, uint64_t span_ns)
{
	uint64_t most = before + span_ns / 100;

	return told < before ? before : told > most ? most : told;
}

/* For a daemon. Failures are logged: agents then work without a page. */
void gs_agents_start(struct gs_control *ctl);
void gs_agents_end(struct gs_control *ctl);
/*
 * Checks now which agents count launches, and how many. Call this when the probes begin or end
 * counting.
 */
void gs_agents_look(struct gs_control *ctl);
/*
 * The engine has made a call. If the call took the GPU from a process, notes that in its agent's
 * page.
 */
void gs_agents_call(void *self, const struct gs_engine_call *call);
/* Its agent is gone if the process ended, or executed another program, or is another user's. */
void gs_agents_process_changed(void *self, struct gs_process *p, enum gs_process_change what);
void gs_agents_process_ended(void *self, struct gs_process *p);
/*
 * The launches that the agent of @rec's process counted. Returns false if none were reported, or if
 * the process has several compute TSGs. The number is no fact: policies and laws never see it.
 */
bool gs_agents_launches(const struct gs_control *ctl, const struct gpusched_tsg *rec,
			uint64_t *ret_launches);
/*
 * The launches, and those of CUDA graphs among them, that the agent in @rec's process has counted
 * until *@ret_ns, unchecked. Returns false if there is no agent, or it does not count.
 */
bool gs_agents_graphs(const struct gs_control *ctl, const struct gpusched_tsg *rec,
		      uint64_t *ret_ns, uint64_t *ret_launches, uint64_t *ret_graphs);
/* Adds the launches that agents reported. @inout: GPUSCHED_MAX_CLASSES numbers, by class id. */
void gs_agents_by_class(const struct gs_control *ctl, uint64_t *inout);
/*
 * The report of the agent in a compute TSG's process; false: there is no agent. @ret_counted: it
 * reports launches too.
 */
bool gs_agents_told(const struct gs_control *ctl, const struct gpusched_tsg *rec,
		    struct gs_agent_facts *ret, bool *ret_counted);
/* The requests that the agent of a process reports; NULL: it has none. Borrowed. */
struct gs_told_requests *gs_agents_requests(const struct gs_control *ctl, pid_t pid);

#endif /* GPUSCHED_CONTROL_AGENTS_H */
