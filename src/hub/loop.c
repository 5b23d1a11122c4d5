// SPDX-License-Identifier: MIT
/*
 * Runs the service's part of the event loop: heartbeat, slices and completions. The service joins
 * the daemon's loop; without a daemon it makes its own loop.
 */
#include "hub/loop.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

#include "basic/beat.h"
#include "basic/clock.h"
#include "basic/log.h"
#include "process/reader.h"
#include "hub/hub.h"
#include "hub/limited.h"
#include "table/cfg.h"
#include "table/events.h"
#include "engine/lock.h"

/*
 * Time between two beats. A second without one opens the gate (gate.bpf.c). While nobody asks for
 * anything, the policy rests, and no observer of beats has work, they come half as often.
 */
#define BEAT_NS (250 * NS_PER_MS)
#define REST_BEAT_NS (500 * NS_PER_MS)
#define ACCURACY_US 1000

static uint64_t us_of(uint64_t ns)
{
	return ns / NS_PER_US;
}

/* ---- heartbeat ------------------------------------------------------------------------------- */

/*
 * A dry run writes no heartbeat: a heartbeat that is left in the table says that something needs
 * repair.
 */
void gs_loop_beat(struct gs_hub *hub)
{
	if (hub->opts.daemon && !hub->opts.dry_run)
		gs_cfg_heartbeat(hub->table, gs_now_ns());
}

/*
 * If this process stood still and another one restored in its place, compares all TSGs as if seen
 * for the first time. Plans of the old epoch are dropped already.
 */
static void take_up_again(struct gs_hub *hub)
{
	CLEANUP_FD int lock = -1;
	struct gpusched_cfg cfg;

	if (gs_table_cfg(hub->table, &cfg) || cfg.epoch == hub->epoch)
		return;
	/* the other process still restores: try again at the next beat */
	if (gs_lock_overtake(&lock, NULL))
		return;
	hub->epoch = cfg.epoch;
	gs_count(hub, GS_SVC_OVERTAKEN);
	gs_log(LOG_WARNING, "this daemon did not answer for some time, and everything was put back "
			    "meanwhile: it begins anew");
	gs_observers_overtaken(&hub->observers);
}

static void name_left(uid_t uid, uint64_t times, void *user)
{
	gs_limited_times(user, uid, GS_LIMIT_READS, times);
}

/* Beats come at multiples of their period, so that gs_loop_plan_about() finds them. */
static void plan_beat(sd_event_source *src, uint64_t period)
{
	gs_loop_plan(src, (gs_now_ns() / period + 1) * period);
}

static uint64_t requests_and_events(const struct gs_hub *hub)
{
	return hub->counters[GS_SVC_REQUESTS] + hub->counters[GS_SVC_EVENTS];
}

/* True if nobody has asked for anything, and no TSG had an event, since the last call. */
static bool is_at_rest(struct gs_hub *hub)
{
	uint64_t now = requests_and_events(hub);
	bool rests = !hub->beat_soon && now == hub->at_beat;

	hub->at_beat = now;
	hub->beat_soon = false;
	return rests;
}

/* Brings the next beat forward if a rest has ended. */
static void look_at_rest(struct gs_hub *hub)
{
	if (!hub->rests || requests_and_events(hub) == hub->at_beat)
		return;
	hub->rests = false;
	plan_beat(hub->beat, BEAT_NS);
}

static int on_beat(sd_event_source *src, uint64_t us, void *user)
{
	struct gs_hub *hub = user;

	gs_loop_beat(hub);
	if (hub->shown)
		*hub->shown = gs_now_ns();
	gs_reader_take_left(name_left, hub);
	gs_observers_beat(&hub->observers);
	if (hub->engine)
		take_up_again(hub);
	hub->rests = is_at_rest(hub);
	plan_beat(src, hub->rests ? REST_BEAT_NS : BEAT_NS);
	return 0;
}

/* ---- slices ---------------------------------------------------------------------------------- */

/*
 * Uses a timer that is due now. A deferred source would come before all other sources in each
 * iteration.
 */
static void plan_round(struct gs_hub *hub)
{
	sd_event_source_set_time(hub->round, us_of(gs_now_ns()));
	sd_event_source_set_enabled(hub->round, SD_EVENT_ONESHOT);
}

static int on_round(sd_event_source *src, uint64_t us, void *user)
{
	struct gs_hub *hub = user;

	if (gs_slices_run(&hub->slices))
		plan_round(hub);
	return 0;
}

void gs_loop_slice(struct gs_hub *hub, struct gs_sliced *w, bool again)
{
	if (again)
		gs_slices_again(&hub->slices, w);
	else
		gs_slices_add(&hub->slices, w);
	plan_round(hub);
}

/* ---- completions ----------------------------------------------------------------------------- */

/* Does nothing: happened() runs after each source, and does the work. */
static int on_look(sd_event_source *src, uint64_t us, void *user)
{
	return 0;
}

void gs_loop_plan(sd_event_source *src, uint64_t at)
{
	if (at == UINT64_MAX) {
		sd_event_source_set_enabled(src, SD_EVENT_OFF);
		return;
	}
	sd_event_source_set_time(src, us_of(at + NS_PER_US - 1));
	sd_event_source_set_enabled(src, SD_EVENT_ONESHOT);
}

void gs_loop_plan_about(sd_event_source *src, uint64_t at)
{
	gs_loop_plan(src, (at + REST_BEAT_NS / 2) / REST_BEAT_NS * REST_BEAT_NS);
}

/* Runs before each sleep: any event may have changed the time of the next check. */
static int prepare(struct gs_hub *hub)
{
	gs_loop_plan(hub->look, gs_completions_next(&hub->waits));
	if (hub->due)
		gs_loop_plan(hub->due, gs_engine_due(hub->engine));
	return sd_event_prepare(hub->event);
}

/* Runs after each source of the loop, in whatever part of the daemon. */
static void happened(struct gs_hub *hub)
{
	gs_completions_run(&hub->waits, gs_now_ns());
	gs_observers_dispatched(&hub->observers);
	look_at_rest(hub);
}

/* Dispatches one ready source of the loop. */
static int take_turn(struct gs_hub *hub)
{
	int r;

	gs_pace_begin(&hub->pace);
	r = sd_event_dispatch(hub->event);
	happened(hub);
	gs_pace_end(&hub->pace);
	return r;
}

static int turn(struct gs_hub *hub)
{
	int r = prepare(hub);

	if (!r)
		r = sd_event_wait(hub->event, UINT64_MAX);
	return r > 0 ? take_turn(hub) : r;
}

void gs_loop_finish(struct gs_hub *hub, struct gs_completion *c)
{
	int r = 0;

	while (!gs_completion_is_over(c) && r >= 0)
		r = turn(hub);
	if (r < 0)
		gs_completion_cancel(c, r, strerror(-r));
}

void gs_loop_wait(struct gs_hub *hub, struct gs_completion *c)
{
	gs_completion_begin(c, &hub->waits, gs_now_ns());
	gs_loop_finish(hub, c);
}

static int is_idle(struct gs_completion *c, uint64_t now_ns)
{
	const struct gs_hub *hub = c->user;

	return gs_engine_idle(hub->engine) || gs_completion_is_late(c, now_ns) ? 0 : -EINPROGRESS;
}

void gs_loop_settle(struct gs_hub *hub, unsigned int ms)
{
	struct gs_completion c = {
		.check = is_idle,
		.on = GS_ON_ENGINE,
		.until_ns = gs_now_ns() + ms * NS_PER_MS,
		.user = hub,
	};

	if (hub->engine && hub->event)
		gs_loop_wait(hub, &c);
}

/* ---- the sources ----------------------------------------------------------------------------- */

static void on_answer(enum gs_reader_what what, pid_t pid, void *user)
{
	struct gs_hub *hub = user;

	gs_observers_answered(&hub->observers, what, pid);
}

static int on_read(sd_event_source *src, int fd, uint32_t revents, void *user)
{
	struct gs_hub *hub = user;

	gs_reader_dispatch(on_answer, hub);
	return 0;
}

int gs_loop_timer(struct gs_hub *hub, sd_event_time_handler_t fn, void *user, sd_event_source **ret)
{
	int r = sd_event_add_time(hub->event, ret, CLOCK_MONOTONIC, 0, ACCURACY_US, fn, user);

	return r < 0 ? r : sd_event_source_set_enabled(*ret, SD_EVENT_OFF);
}

static int add_daemons(struct gs_hub *hub)
{
	int fd, r = gs_loop_timer(hub, on_beat, hub, &hub->beat);

	if (r >= 0) /* runs first, even if other sources are ready */
		r = sd_event_source_set_priority(hub->beat, SD_EVENT_PRIORITY_IMPORTANT);
	if (r < 0)
		return r;
	hub->shown = gs_beat_new();
	on_beat(hub->beat, 0, hub);
	r = gs_reader_begin(&fd);
	if (r >= 0)
		hub->has_readers = true;
	return r < 0 ? r : sd_event_add_io(hub->event, &hub->reads, fd, EPOLLIN, on_read, hub);
}

int gs_loop_new(struct gs_hub *hub, struct gs_error *err)
{
	int r = 0;

	if (hub->opts.event)
		hub->event = sd_event_ref(hub->opts.event);
	else
		r = sd_event_new(&hub->event);
	if (r >= 0)
		r = gs_loop_timer(hub, on_look, hub, &hub->look);
	if (r >= 0)
		r = gs_loop_timer(hub, on_round, hub, &hub->round);
	if (r >= 0)
		r = sd_event_source_set_time_accuracy(hub->round, 1);
	if (r >= 0 && hub->opts.daemon)
		r = add_daemons(hub);
	return r < 0 ? gs_fail(err, r, "the event loop: %s", strerror(-r)) : 0;
}

void gs_loop_free(struct gs_hub *hub)
{
	sd_event_source **all[] = { &hub->look, &hub->round, &hub->beat, &hub->reads };

	for (size_t i = 0; i < GS_COUNT(all); i++)
		*all[i] = sd_event_source_disable_unref(*all[i]);
	if (hub->has_readers)
		gs_reader_end();
	hub->has_readers = false;
	gs_beat_free(hub->shown);
	hub->shown = NULL;
	hub->event = sd_event_unref(hub->event);
}

int gs_loop_run(struct gs_hub *hub, int ms)
{
	struct pollfd p = { .events = POLLIN };
	int r = prepare(hub), signalled = 0;

	if (!r) {
		p.fd = sd_event_get_fd(hub->event);
		signalled = poll(&p, 1, ms) < 0 ? -errno : 0;
		r = sd_event_wait(hub->event, 0);
	}
	if (r > 0)
		r = take_turn(hub);
	return r < 0 ? r : signalled;
}
