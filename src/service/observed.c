// SPDX-License-Identifier: MIT
/* The table of observers: who is told what happens to TSGs, in this order. */
#include "basic/cleanup.h"
#include "service/agents.h"
#include "service/events.h"
#include "service/hardware.h"
#include "service/instance.h"
#include "service/launches.h"
#include "service/oddities.h"
#include "service/sight.h"
#include "service/trace.h"
#include "service/watch.h"
#include "table/facts.h"

/* A tap asks the policy by itself; without a record nobody can be asked about. */
static void policy_ended(struct gs_service *s, const struct gs_end *end)
{
	if (s->p && end->by != GS_END_TAP && end->by != GS_END_MISSED)
		gs_policy_ask(s->p, GPUSCHED_RUN_TASK_DESTROY, &end->key, 0);
}

/* Behind each of these is a callback of the policy, which ends a rest of its tick. */
static void policy_tapped(struct gs_service *s, const struct gpusched_event *ev)
{
	static const uint32_t types[] = { GPUSCHED_EV_TSG_NEW,   GPUSCHED_EV_SCHEDULE,
					  GPUSCHED_EV_TIMESLICE, GPUSCHED_EV_TSG_FREE,
					  GPUSCHED_EV_WANT,      GPUSCHED_EV_HOLD,
					  GPUSCHED_EV_DENY };

	for (size_t i = 0; s->p && i < GS_COUNT(types); i++)
		if (types[i] == ev->type)
			gs_policy_nudge(s->p);
}

/* After an end that was missed, another TSG may have its handle by now. */
static void engine_ended(struct gs_service *s, const struct gs_end *end)
{
	if (!s->e)
		return;
	gs_engine_forget(s->e, &end->key);
	if (end->by == GS_END_TAP)
		gs_engine_let_go(s->e);
	if (end->by == GS_END_MISSED)
		gs_engine_touch(s->e, &end->key);
}

static void job_ended(struct gs_service *s, const struct gs_end *end)
{
	gs_job_remove(s->o, end->id);
}

/*
 * Launches come before the intake: they race with the first launch. Watchers are told of a TSG before
 * what follows from it. A recording knows a TSG before its first turn and until after its last. The
 * ledger takes down what the account knows before that forgets it. The policy is asked about an end
 * while the TSG's job and facts are still there.
 */
static const struct gs_observer observers[] = {
	{ "watchers", .told = gs_watch_event, .called = gs_watch_call },
	{ "launches", .tapped = gs_service_launches_event },
	{ "agents", .tapped = gs_agents_tapped, .called = gs_agents_call },
	{ "intake", .tapped = gs_intake_tapped, .ended = job_ended },
	{ "recordings", .seen = gs_trace_record, .ended = gs_trace_ended, .turn = gs_trace_turn },
	{ "GPU time", gs_sight_event, NULL, gs_sight_record, gs_sight_ended, gs_sight_call },
	{ "ledger", NULL, gs_ledger_event, gs_ledger_record, gs_ledger_ended, gs_ledger_call },
	{ "hardware ids", .ended = gs_hardware_ended },
	{ "aliases", .seen = gs_aliases_record },
	{ "anomalies", .ended = gs_oddities_ended },
	{ "engine", .ended = engine_ended },
	{ "policy", .tapped = policy_tapped, .ended = policy_ended },
};

void gs_service_observe(struct gs_service *s)
{
	s->observers.all = observers;
	s->observers.n = GS_COUNT(observers);
	s->observers.s = s;
}
