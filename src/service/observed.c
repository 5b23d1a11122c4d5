// SPDX-License-Identifier: MIT
/* The table of observers: who is told what happens to TSGs, in this order. */
#include "basic/cleanup.h"
#include "service/agents.h"
#include "service/calls.h"
#include "service/hardware.h"
#include "service/instance.h"
#include "service/intake.h"
#include "service/launches.h"
#include "service/looking.h"
#include "service/oddities.h"
#include "service/policy.h"
#include "service/sight.h"
#include "service/trace.h"
#include "service/watch.h"

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

static void engine_overtaken(struct gs_service *s)
{
	gs_engine_begin_anew(s->e);
}

/*
 * Launches come before the intake: they race with the first launch. Watchers are told of a TSG before
 * what follows from it. A recording knows a TSG before its first turn and until after its last. The
 * ledger takes down what the account knows before that forgets it. The policy is asked about an end
 * while the TSG's job and facts are still there.
 */
static const struct gs_observer observers[] = {
	{ "watchers", .told = gs_watch_event, .called = gs_watch_call, .said = gs_watch_said },
	{ "launches", .tapped = gs_service_launches_event, .process_met = gs_service_launches_met,
	  .answered = gs_service_launches_answered, .policy_changed = gs_service_launches_update },
	{ "agents", .tapped = gs_agents_tapped, .called = gs_agents_call },
	{ "intake", .tapped = gs_intake_tapped, .ended = gs_intake_ended,
	  .answered = gs_intake_answered, .beat = gs_full_check, .overtaken = gs_looking_overtaken,
	  .restored = gs_ends_check },
	{ "recordings", .seen = gs_trace_record, .ended = gs_trace_ended, .turn = gs_trace_turn,
	  .turns_read = gs_trace_flush },
	{ "GPU time", .tapped = gs_sight_event, .seen = gs_sight_record, .ended = gs_sight_ended,
	  .called = gs_sight_call, .policy_changed = gs_sight_policy },
	{ "ledger", .told = gs_ledger_event, .seen = gs_ledger_record, .ended = gs_ledger_ended,
	  .called = gs_ledger_call, .policy_changes = gs_ledger_take },
	{ "calls", .called = gs_calls_called },
	{ "hardware ids", .seen = gs_aliases_record, .ended = gs_hardware_ended },
	{ "anomalies", .ended = gs_oddities_ended },
	{ "engine", .ended = engine_ended, .overtaken = engine_overtaken },
	{ "policy", .tapped = policy_tapped, .ended = policy_ended, .beat = gs_host_beat,
	  .overtaken = gs_policy_overtaken },
	{ "what is kept", .dispatched = gs_saved_dispatched },
};

void gs_service_observe(struct gs_service *s)
{
	s->observers.all = observers;
	s->observers.n = GS_COUNT(observers);
	s->observers.s = s;
}
