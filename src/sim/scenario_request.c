/* SPDX-License-Identifier: MIT */
/*
 * scenario_request.c - reports a process's requests as the daemon does, from hints or an agent
 *
 * As on a real machine, reports come late by a thread's wake-up. With an agent, a request ends
 * after the process has been idle for a while. That length is learned from the process's own idle
 * times.
 */
#include "basic/clock.h"
#include "sim/scenario_priv.h"
#include "sim/scenario_request.h"

#define SIGNAL_NS (100 * NS_PER_US) /* time from the program's event to the policy's callback */

static uint64_t now_of(const struct sim_proc *p)
{
	return sim_model_now(p->sim->m);
}

static void tell(struct sim_proc *p, bool begins)
{
	if (p->told_request == begins)
		return;
	p->told_request = begins;
	sim_event_post(p->sim, now_of(p) + SIGNAL_NS, begins ? SIM_EV_BEGIN : SIM_EV_END, NULL,
		       (unsigned int)(p - p->sim->procs));
}

/* A request of the process arrives. */
void sim_request_coming(struct sim_proc *p)
{
	if (p->g->requests == SIM_REQUESTS_HINTS)
		tell(p, true);
}

/* The answer to the process's request is sent. */
void sim_request_done(struct sim_proc *p)
{
	if (p->g->requests == SIM_REQUESTS_HINTS)
		tell(p, false);
}

/* The process launches work, and waits for the GPU from now on. */
void sim_request_launch(struct sim_proc *p)
{
	if (p->g->requests != SIM_REQUESTS_AGENT)
		return;
	if (p->rests_since && !p->in_wait)
		gs_quiet_rest(&p->quiet, now_of(p) - p->rests_since);
	p->in_wait = true;
	if (!gs_quiet_us(&p->quiet))
		return;
	tell(p, true);
}

/* All launched work is done, and the process has seen that: it is idle. */
void sim_request_rests(struct sim_proc *p)
{
	if (p->g->requests != SIM_REQUESTS_AGENT)
		return;
	p->in_wait = false;
	p->rests_since = now_of(p);
	if (p->told_request)
		sim_event_post(p->sim, now_of(p) + gs_quiet_us(&p->quiet) * NS_PER_US, SIM_EV_QUIET,
			       p, 0);
}

/* Ends the request if the process is still idle and has been for long enough. */
void sim_request_quiet(struct sim_proc *p)
{
	uint32_t quiet = gs_quiet_us(&p->quiet);

	if (p->in_wait || !p->rests_since || now_of(p) < p->rests_since + quiet * NS_PER_US)
		return;
	tell(p, false);
}
