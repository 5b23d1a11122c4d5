// SPDX-License-Identifier: MIT
/* observed.c - lists which rooms are called for which events, and in which order */
#include "basic/cleanup.h"
#include "control/agents.h"
#include "control/budgets.h"
#include "control/counted_requests.h"
#include "control/follow.h"
#include "control/harm.h"
#include "figures/calls.h"
#include "intake/hardware.h"
#include "means/means.h"
#include "service/instance.h"
#include "intake/intake.h"
#include "control/launches.h"
#include "intake/rescan.h"
#include "intake/settle.h"
#include "control/policy.h"
#include "park/idle.h"
#include "park/on_use.h"
#include "park/sign.h"
#include "park/wished.h"
#include "figures/gpu_time.h"
#include "figures/memory.h"
#include "figures/request_costs.h"
#include "requests/alerting.h"
#include "requests/trace.h"
#include "requests/watch.h"
#include "figures/ledger.h"
#include "hub/limited.h"
#include "hub/processes.h"
#include "requests/view.h"

/*
 * Calls the policy for the end of a TSG. After an end that a tap saw, the tap has already called
 * it; after a missed end, no record of the TSG is left to call it with.
 */
static void policy_ended(void *self, const struct gs_end *end)
{
	const struct gs_service *s = self;
	if (s->hub->policy && end->by != GS_END_TAP && end->by != GS_END_MISSED)
		gs_stock_ask(s->hub->policy, GPUSCHED_RUN_TASK_DESTROY, &end->key, 0);
}

/*
 * Wakes a policy that has paused its ticks. The tap has called the policy for each of these events,
 * so the policy may have new work.
 */
static void policy_tapped(void *self, const struct gpusched_event *ev)
{
	const struct gs_service *s = self;
	static const uint32_t types[] = { GPUSCHED_EV_TSG_NEW,   GPUSCHED_EV_SCHEDULE,
					  GPUSCHED_EV_TIMESLICE, GPUSCHED_EV_TSG_FREE,
					  GPUSCHED_EV_WANT,      GPUSCHED_EV_HOLD,
					  GPUSCHED_EV_DENY };

	for (size_t i = 0; s->hub->policy && i < GS_COUNT(types); i++)
		if (types[i] == ev->type)
			gs_stock_nudge(s->hub->policy);
}

/* After a missed end, a new TSG may have the same handle, so the engine looks at that key again. */
static void engine_ended(void *self, const struct gs_end *end)
{
	const struct gs_service *s = self;
	if (!s->hub->engine)
		return;
	gs_engine_forget(s->hub->engine, &end->key);
	if (end->by == GS_END_TAP)
		gs_jobs_let_go(s->hub->engine);
	if (end->by == GS_END_MISSED)
		gs_engine_touch(s->hub->engine, &end->key);
}

static void engine_overtaken(void *self)
{
	const struct gs_service *s = self;
	gs_engine_begin_anew(s->hub->engine);
}

static void limit_tapped(void *self, const struct gpusched_event *ev)
{
	const struct gs_service *s = self;
	if (ev->type == GPUSCHED_EV_LIMIT)
		gs_limited(s->hub, gs_view_owner(s->requests, ev), GS_LIMIT_TABLE);
}

/*
 * The order matters. Watchers hear of a TSG before its consequences. Launches come before the
 * intake, so that counting is set up before a program's first launch. Processes are met before the
 * rooms that keep something of them, and end after these. Recordings get a TSG before
 * its first turn, and its end after its last turn. The ledger records a TSG's figures before the
 * account drops them. The policy is called for an end while the TSG's job and facts still exist.
 */
static const struct gs_observer observers[] = {
	{ "watchers", GS_ROOM_REQUESTS, .told = gs_watch_event, .called = gs_watch_call,
	  .said = gs_watch_said },
	{ "launches", GS_ROOM_CONTROL, .tapped = gs_service_launches_event,
	  .events_lost = gs_service_launches_events_lost, .answered = gs_service_launches_answered,
	  .policy_changed = gs_service_launches_update },
	{ "processes", GS_ROOM_HUB, .tapped = gs_processes_tapped, .seen = gs_processes_seen,
	  .ended = gs_processes_ended, .events_lost = gs_processes_events_lost,
	  .beat = gs_processes_beat },
	{ "agents", GS_ROOM_CONTROL, .process_changed = gs_agents_process_changed,
	  .process_ended = gs_agents_process_ended, .called = gs_agents_call },
	{ "counted requests", GS_ROOM_CONTROL, .tapped = gs_counted_tapped,
	  .process_changed = gs_counted_process_changed, .process_ended = gs_counted_process_ended,
	  .beat = gs_counted_beat },
	{ "intake", GS_ROOM_INTAKE, .tapped = gs_intake_tapped, .ended = gs_intake_ended,
	  .deadline_told = gs_settle_deadline, .answered = gs_intake_answered,
	  .beat = gs_intake_beat, .policy_changed = gs_promise_policy_changed,
	  .overtaken = gs_rescan_overtaken, .restored = gs_ends_check },
	{ "jobs", GS_ROOM_INTAKE, .process_ended = gs_settle_job_ended },
	{ "recordings", GS_ROOM_REQUESTS, .seen = gs_trace_record, .ended = gs_trace_ended,
	  .turn = gs_trace_turn, .turns_read = gs_trace_flush, .request_split = gs_trace_request },
	{ "GPU time", GS_ROOM_FIGURES, .tapped = gs_gpu_time_event, .seen = gs_gpu_time_record,
	  .ended = gs_gpu_time_ended, .called = gs_gpu_time_call,
	  .policy_changed = gs_gpu_time_policy },
	{ "ledger", GS_ROOM_FIGURES, .told = gs_ledger_event, .seen = gs_ledger_record,
	  .ended = gs_ledger_ended, .process_ended = gs_ledger_process_ended,
	  .called = gs_ledger_call, .said = gs_ledger_said, .request = gs_ledger_request,
	  .answered = gs_ledger_answered, .policy_changes = gs_ledger_policy_changes,
	  .overtaken = gs_ledger_restored, .restored = gs_ledger_restored },
	{ "costs of requests", GS_ROOM_FIGURES, .request = gs_request_costs_done,
	  .turn = gs_request_costs_turn, .turns_read = gs_request_costs_read },
	{ "means", GS_ROOM_MEANS, .seen = gs_means_seen, .ended = gs_means_ended,
	  .process_ended = gs_means_process_ended, .answered = gs_means_answered,
	  .policy_changed = gs_means_policy_changed, .beat = gs_means_beat },
	{ "memory", GS_ROOM_FIGURES, .seen = gs_memory_record, .ended = gs_memory_ended },
	{ "parking", GS_ROOM_PARK, .seen = gs_parking_record, .ended = gs_parking_ended,
	  .beat = gs_parking_beat, .dispatched = gs_parking_dispatched },
	{ "programs wished parked", GS_ROOM_PARK, .beat = gs_park_wished_beat },
	{ "idle programs", GS_ROOM_PARK, .process_ended = gs_park_idler_process_ended,
	  .beat = gs_park_idle_beat },
	{ "signs of parked programs", GS_ROOM_PARK, .answered = gs_park_sign_answered,
	  .beat = gs_park_sign_beat },
	{ "threads of parked programs", GS_ROOM_PARK, .answered = gs_park_waiters_answered,
	  .beat = gs_park_waiters_beat },
	{ "programs that are wanted back", GS_ROOM_PARK, .beat = gs_park_on_use_beat },
	{ "what follows", GS_ROOM_CONTROL, .seen = gs_follow_record, .ended = gs_follow_ended },
	{ "calls", GS_ROOM_FIGURES, .called = gs_calls_called,
	  .process_ended = gs_calls_process_ended },
	{ "hardware ids", GS_ROOM_INTAKE, .seen = gs_aliases_record, .ended = gs_hardware_ended },
	{ "engine", GS_ROOM_TOP, .ended = engine_ended, .overtaken = engine_overtaken },
	{ "limits", GS_ROOM_TOP, .tapped = limit_tapped },
	{
		"policy",
		GS_ROOM_TOP,
		.tapped = policy_tapped,
		.ended = policy_ended,
	},
	{ "budgets", GS_ROOM_CONTROL, .ended = gs_budgets_ended, .beat = gs_budgets_beat },
	{ "harm", GS_ROOM_CONTROL, .called = gs_harm_called, .ended = gs_harm_ended,
	  .beat = gs_harm_beat },
	{ "the policy's host", GS_ROOM_CONTROL, .beat = gs_host_beat,
	  .overtaken = gs_policy_overtaken },
	{ "alerts", GS_ROOM_REQUESTS, .beat = gs_alerting_beat },
	{ "refused rounds", GS_ROOM_CONTROL, .beat = gs_policy_beat },
	{ "what is kept", GS_ROOM_CONTROL, .dispatched = gs_saved_dispatched },
};

void gs_service_observe(struct gs_service *s)
{
	s->selves[GS_ROOM_HUB] = s->hub;
	s->selves[GS_ROOM_INTAKE] = s->intake;
	s->selves[GS_ROOM_FIGURES] = s->figures;
	s->selves[GS_ROOM_MEANS] = s->means;
	s->selves[GS_ROOM_PARK] = s->parking;
	s->selves[GS_ROOM_CONTROL] = s->control;
	s->selves[GS_ROOM_REQUESTS] = s->requests;
	s->selves[GS_ROOM_TOP] = s;
	s->hub->observers.all = observers;
	s->hub->observers.n = GS_COUNT(observers);
	s->hub->observers.selves = s->selves;
}
