// SPDX-License-Identifier: MIT
/* Handles the taps' events, late answers, and lost events. */
#include "intake/intake.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "basic/clock.h"
#include "basic/log.h"
#include "intake/adoption.h"
#include "intake/ends.h"
#include "intake/intake.h"
#include "intake/past_share.h"
#include "intake/rescan.h"
#include "hub/loop.h"
#include "intake/settle.h"
#include "intake/reap.h"
#include "table/events.h"
#include "table/facts.h"
#include "table/procs.h"

/* ---- lost events ----------------------------------------------------------------------------- */

/*
 * The table holds what lost events reported, so the whole table is read again, as at a start. One
 * program can fill the ring again and again, so there is a pause between two such reads.
 */
static void check_losses(struct gs_intake *in)
{
	uint64_t lost, now;

	if (in->draining || gs_events_counter(in->hub->table, GPUSCHED_CNT_EVENTS_LOST, &lost) ||
	    lost == in->events_lost)
		return;
	now = gs_now_ns();
	if (in->looking.round.lost || in->looking.next.lost)
		return; /* the sweep after that round calls this again */
	if (now < in->losses_next_ns) {
		gs_reap_in(in, in->losses_next_ns - now); /* the sweep calls this again */
		return;
	}
	gs_count(in->hub, GS_SVC_LOSSES);
	gs_log(LOG_WARNING, "%llu events of the taps were lost: all TSGs are looked at",
	       (unsigned long long)(lost - in->events_lost));
	in->events_lost = lost;
	gs_rescan_lost(in);
}

/* ---- events ---------------------------------------------------------------------------------- */

/* The TSG's owner draws, whichever process made the call. */
static void settle_graphics(struct gs_intake *in, const struct gpusched_key *key)
{
	struct gpusched_tsg rec;

	if (!gs_table_get(in->hub->table, key, &rec))
		gs_rescan_process(in, (pid_t)rec.task.pid);
}

void gs_intake_tapped(void *self, const struct gpusched_event *ev)
{
	struct gs_intake *in = self;
	struct gpusched_tsg rec;

	switch (ev->type) {
	case GPUSCHED_EV_CLIENT:
		gs_settle_process(in, (pid_t)ev->pid, NULL);
		gs_reap_in(in, GS_SWEEP_MIN_NS);
		break;
	case GPUSCHED_EV_TSG_NEW:
		if (!gs_table_get(in->hub->table, &ev->key, &rec)) {
			gs_record_settle(in, &rec);
			gs_rescan_new(in, &rec);
		}
		gs_reap_in(in, GS_SWEEP_MIN_NS);
		break;
	case GPUSCHED_EV_GRAPHICS:
		settle_graphics(in, &ev->key);
		break;
	case GPUSCHED_EV_SCHEDULE: /* enables the TSG's channels, so a suspended TSG runs again */
		gs_engine_owner_set(in->hub->engine, &ev->key, GPUSCHED_RUNNABLE, ev->ns);
		break;
	case GPUSCHED_EV_CHANNEL: /* if the TSG is suspended, this one channel runs */
		gs_engine_doubt(in->hub->engine, &ev->key);
		break;
	case GPUSCHED_EV_WANT:
	case GPUSCHED_EV_HOLD:
		gs_engine_touch(in->hub->engine, &ev->key);
		break;
	case GPUSCHED_EV_TIMESLICE:
		gs_engine_owner_set(in->hub->engine, &ev->key, GPUSCHED_TIMESLICE, ev->ns);
		break;
	case GPUSCHED_EV_INTERLEAVE:
		gs_engine_owner_set(in->hub->engine, &ev->key, GPUSCHED_INTERLEAVE, ev->ns);
		break;
	case GPUSCHED_EV_PREEMPT_MODE:
		gs_engine_owner_set(in->hub->engine, &ev->key, GPUSCHED_PREEMPT_MODE, ev->ns);
		break;
	case GPUSCHED_EV_EXEC:
		gs_rescan_process(in, (pid_t)ev->pid);
		break;
	case GPUSCHED_EV_OWNER: /* a call that failed for the old owner may work for the new one */
		gs_engine_anew(in->hub->engine, &ev->key);
		gs_rescan_process(in, (pid_t)ev->pid);
		break;
	case GPUSCHED_EV_EXIT:
		gs_reap_in(in, GS_SWEEP_SOON_NS);
		break;
	case GPUSCHED_EV_ORPHAN:
		gs_adopting_seen(in, ev);
		break;
	case GPUSCHED_EV_LIMIT:
		gs_past_told(ev);
		/* Files that the process has closed count until the sweep. */
		gs_reap_in(in, GS_SWEEP_SOON_NS);
		break;
	default:
		break;
	}
}

static void on_event(const struct gpusched_event *ev, void *user)
{
	struct gs_intake *in = user;

	if (in->draining)
		return;
	gs_count(in->hub, GS_SVC_EVENTS);
	gs_observers_tapped(&in->hub->observers, ev);
}

/* A late answer has come: asking again gets it. */
void gs_intake_answered(void *self, enum gs_reader_what what, pid_t pid)
{
	struct gs_intake *in = self;

	if (what != GS_READER_PROGRAM)
		return;
	gs_pool_answered(in, pid);
	gs_rescan_process(in, pid);
}

void gs_intake_beat(void *self)
{
	struct gs_intake *in = self;

	gs_past_check(in);
	gs_full_check(in);
	gs_pods_beat(in);
}

void gs_intake_ended(void *self, const struct gs_end *end)
{
	struct gs_intake *in = self;
	gs_promise_ended(in, end->id);
	gs_facts_remove_job(in->hub->table, end->id);
}

/* ---- life ------------------------------------------------------------------------------------ */

int gs_intake_new(struct gs_hub *hub, struct gs_intake **ret)
{
	struct gs_intake *in = calloc(1, sizeof(*in));

	if (!in)
		return -ENOMEM;
	in->hub = hub;
	in->begun_ns = gs_now_ns();
	*ret = in;
	return 0;
}

void gs_intake_quiet(struct gs_intake *in)
{
	in->events = sd_event_source_disable_unref(in->events);
}

void gs_intake_free(struct gs_intake *in)
{
	if (!in)
		return;
	gs_promises_free(&in->promises);
	gs_pools_free(in);
	gs_ends_free(in);
	gs_rescan_free(in);
	free(in);
}

static int on_sweep(sd_event_source *src, uint64_t us, void *user)
{
	check_losses(user);
	gs_reap_sweep(user);
	return 0;
}

static int on_events(sd_event_source *src, int fd, uint32_t revents, void *user)
{
	struct gs_intake *in = user;

	gs_events_dispatch(in->hub->table);
	check_losses(in);
	return 0;
}

int gs_intake_start(struct gs_intake *in, struct gs_error *err)
{
	int r;

	r = gs_loop_timer(in->hub, on_sweep, in, &in->sweep);
	if (r < 0)
		return gs_fail(err, r, "the event loop: %s", strerror(-r));
	gs_pods_begin(in);
	r = gs_events_open(in->hub->table, on_event, in, err);
	if (r)
		return gs_fail(err, r, "events cannot be read: %s", strerror(-r));
	in->draining = true;
	while (gs_events_dispatch(in->hub->table) > 0)
		;
	in->draining = false;
	gs_events_counter(in->hub->table, GPUSCHED_CNT_EVENTS_LOST, &in->events_lost);
	gs_events_counter(in->hub->table, GPUSCHED_CNT_TABLE_FULL, &in->table_full);
	r = sd_event_add_io(in->hub->event, &in->events, gs_events_fd(in->hub->table), EPOLLIN,
			    on_events, in);
	return r < 0 ? gs_fail(err, r, "events cannot be read: %s", strerror(-r)) : 0;
}
