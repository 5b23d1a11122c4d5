// SPDX-License-Identifier: MIT
/* What follows from each event of the taps, from late answers, and from events that were lost. */
#include "service/intake.h"

#include <string.h>

#include "basic/clock.h"
#include "basic/log.h"
#include "service/adopting.h"
#include "service/ends.h"
#include "service/instance.h"
#include "service/looking.h"
#include "service/loop.h"
#include "service/privacy.h"
#include "service/settle.h"
#include "service/sweeping.h"
#include "table/events.h"
#include "table/facts.h"

/* ---- lost events ----------------------------------------------------------------------------- */

/*
 * Whatever it was, the taps have written it into the table: all of that is looked at, as at a
 * start. One program can fill the ring again and again, so this has a pause between two.
 */
static void check_losses(struct gs_service *s)
{
	uint64_t lost, now;

	if (s->draining || gs_tap_counter(s->o, GPUSCHED_CNT_EVENTS_LOST, &lost) ||
	    lost == s->events_lost)
		return;
	now = gs_now_ns();
	if (s->looking.round.lost || s->looking.next.lost)
		return; /* its end brings us here again */
	if (now < s->losses_next_ns) {
		gs_sweep_in(s, s->losses_next_ns - now); /* which looks here again */
		return;
	}
	gs_count(s, GS_SVC_LOSSES);
	gs_log(LOG_WARNING, "%llu events of the taps were lost: all TSGs are looked at",
	       (unsigned long long)(lost - s->events_lost));
	s->events_lost = lost;
	gs_records_look_lost(s);
}

/* ---- events ---------------------------------------------------------------------------------- */

void gs_intake_tapped(struct gs_service *s, const struct gpusched_event *ev)
{
	struct gpusched_tsg rec;

	switch (ev->type) {
	case GPUSCHED_EV_CLIENT:
		gs_process_note(s, (pid_t)ev->pid, NULL);
		gs_sweep_in(s, GS_SWEEP_MIN_NS);
		break;
	case GPUSCHED_EV_TSG_NEW:
		if (!gs_table_get(s->o, &ev->key, &rec))
			gs_record_settle(s, &rec);
		gs_sweep_in(s, GS_SWEEP_MIN_NS);
		break;
	case GPUSCHED_EV_SCHEDULE: /* enables its channels: a suspended TSG runs again */
		gs_engine_owner_set(s->e, &ev->key, GPUSCHED_RUNNABLE, ev->ns);
		break;
	case GPUSCHED_EV_CHANNEL: /* of a suspended TSG it alone runs */
		gs_engine_doubt(s->e, &ev->key);
		break;
	case GPUSCHED_EV_WANT:
	case GPUSCHED_EV_HOLD:
		gs_engine_touch(s->e, &ev->key);
		break;
	case GPUSCHED_EV_TIMESLICE:
		gs_engine_owner_set(s->e, &ev->key, GPUSCHED_TIMESLICE, ev->ns);
		break;
	case GPUSCHED_EV_INTERLEAVE:
		gs_engine_owner_set(s->e, &ev->key, GPUSCHED_INTERLEAVE, ev->ns);
		break;
	case GPUSCHED_EV_PREEMPT_MODE:
		gs_engine_owner_set(s->e, &ev->key, GPUSCHED_PREEMPT_MODE, ev->ns);
		break;
	case GPUSCHED_EV_EXEC:
		gs_process_reclassify(s, (pid_t)ev->pid);
		break;
	case GPUSCHED_EV_OWNER: /* what could not be called before can be now */
		gs_engine_anew(s->e, &ev->key);
		gs_process_reclassify(s, (pid_t)ev->pid);
		break;
	case GPUSCHED_EV_EXIT:
		gs_sweep_in(s, GS_SWEEP_SOON_NS);
		break;
	case GPUSCHED_EV_ORPHAN:
		gs_orphan_seen(s, ev);
		break;
	case GPUSCHED_EV_LIMIT:
		gs_log(LOG_NOTICE,
		       "process %u (%.*s) of user %u has all of its share of the table, or of its "
		       "user's: with more it is held back",
		       ev->pid, GPUSCHED_COMM_LEN, ev->comm, gs_event_owner(s, ev));
		gs_sweep_in(s, GS_SWEEP_SOON_NS); /* what it has closed counts until then */
		break;
	default:
		break;
	}
}

static void on_event(const struct gpusched_event *ev, void *user)
{
	struct gs_service *s = user;

	if (s->draining)
		return;
	gs_count(s, GS_SVC_EVENTS);
	gs_observers_tapped(&s->observers, ev);
}

/* A late answer: it is asked for again, and is there now. */
void gs_intake_answered(struct gs_service *s, enum gs_reader_what what, pid_t pid)
{
	if (what == GS_READER_PROGRAM)
		gs_process_reclassify(s, pid);
}

void gs_intake_ended(struct gs_service *s, const struct gs_end *end)
{
	gs_job_remove(s->o, end->id);
}

/* ---- life ------------------------------------------------------------------------------------ */

static int on_sweep(sd_event_source *src, uint64_t us, void *user)
{
	check_losses(user);
	gs_service_sweep(user);
	return 0;
}

static int on_events(sd_event_source *src, int fd, uint32_t revents, void *user)
{
	struct gs_service *s = user;

	gs_events_dispatch(s->o);
	check_losses(s);
	return 0;
}

int gs_intake_start(struct gs_service *s, struct gs_error *err)
{
	int r;

	r = gs_loop_timer(s, on_sweep, s, &s->sweep);
	if (r < 0)
		return gs_fail(err, r, "the event loop: %s", strerror(-r));
	r = gs_events_open(s->o, on_event, s, err);
	if (r)
		return gs_fail(err, r, "events cannot be read: %s", strerror(-r));
	s->draining = true;
	while (gs_events_dispatch(s->o) > 0)
		;
	s->draining = false;
	gs_tap_counter(s->o, GPUSCHED_CNT_EVENTS_LOST, &s->events_lost);
	gs_tap_counter(s->o, GPUSCHED_CNT_TABLE_FULL, &s->table_full);
	r = sd_event_add_io(s->event, &s->events, gs_events_fd(s->o), EPOLLIN, on_events, s);
	return r < 0 ? gs_fail(err, r, "events cannot be read: %s", strerror(-r)) : 0;
}
