// SPDX-License-Identifier: MIT
/* Counting launches: who wants it, and its errands. */
#include "service/launches.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/log.h"
#include "gpusched/policy_types.h"
#include "service/errand.h"
#include "service/instance.h"
#include "service/loop.h"

bool gs_service_launches_for_policy(const struct gs_service *s)
{
	return s->p && gs_policy_running(s->p)->flags & GPUSCHED_F_WORK;
}

bool gs_service_launches_wanted(const struct gs_service *s)
{
	return s->launches_asked || s->config->launches & GS_LAUNCHES_ALWAYS ||
	       gs_service_launches_for_policy(s);
}

bool gs_service_launches_trusted(const struct gs_service *s)
{
	return s->config->launches & GS_LAUNCHES_TRUSTED;
}

json_t *gs_service_launches_refused(const struct gs_service *s)
{
	struct gs_error why = { 0 };

	return gs_launches_allowed(gs_service_launches_trusted(s), &why) ? json_string(why.text)
									 : json_null();
}

/* ---- probing a library, and ending, in a thread ------------------------------------------------ */

#define END_MS 5000

struct trip {
	struct gs_errand errand;
	struct gs_launch_job *job;  /* NULL: counting ends */
	struct gs_launches *ending; /* by itself: the service may be gone */
};

static void trip_work(struct gs_errand *e)
{
	struct trip *t = (struct trip *)e;

	if (t->job)
		gs_launch_job_work(t->job);
	else
		gs_launches_end(t->ending);
}

static void take_result(struct gs_service *s, struct gs_launch_job *job)
{
	if (job) {
		gs_launches_done(s->launches, job);
		return;
	}
	gs_launches_by_class(s->ending, s->launched);
	gs_launches_free(TAKE_PTR(s->ending));
	gs_log(LOG_INFO, "launches are not counted any more");
}

static void trip_end(struct gs_errand *e)
{
	struct gs_service *s = e->s;

	s->launching = NULL;
	take_result(s, ((struct trip *)e)->job);
	gs_service_launches_update(s);
	gs_service_launches_go_on(s);
}

static void trip_free(struct gs_errand *e)
{
	free(e);
}

/* Without a thread, here. */
static void set_out(struct gs_service *s, struct gs_launch_job *job)
{
	struct trip here = { .job = job, .ending = s->ending };
	struct trip *t = calloc(1, sizeof(*t));

	if (t) {
		*t = here;
		t->errand = (struct gs_errand){ trip_work, trip_end, trip_free };
	}
	if (t && !gs_errand_begin(&t->errand, s)) {
		s->launching = &t->errand;
		gs_errand_unref(&t->errand); /* the thread's is enough */
		return;
	}
	if (t)
		gs_errand_unref(&t->errand);
	trip_work(&here.errand);
	take_result(s, job);
}

struct gs_errand *gs_service_launches_ending(const struct gs_service *s)
{
	return s->ending ? s->launching : NULL;
}

void gs_service_launches_go_on(struct gs_service *s)
{
	struct gs_launch_job *job;
	uint64_t again;

	if (!s->launches || s->launching_ends)
		return;
	while (!s->launching && (job = gs_launches_next(s->launches)))
		set_out(s, job);
	s->counters[GS_SVC_LAUNCH_LIBS_LEFT] += gs_launches_left(s->launches, &again);
	s->counters[GS_SVC_LAUNCH_LIBS_AGAIN] += again;
	if (s->launch_again)
		gs_loop_plan(s->launch_again, gs_launches_due(s->launches));
}

static int on_again(sd_event_source *src, uint64_t us, void *user)
{
	struct gs_service *s = user;

	if (s->launches)
		gs_launches_again(s->launches);
	gs_service_launches_go_on(s);
	return 0;
}

int gs_service_launches_start(struct gs_service *s)
{
	return s->opts.daemon ? gs_loop_timer(s, on_again, s, &s->launch_again) : 0;
}

void gs_service_launches_end(struct gs_service *s)
{
	s->launching_ends = true;
	if (s->launching)
		gs_errand_leave(s->launching, END_MS);
	if (s->launching) { /* the thread hangs in the kernel, and keeps what it has */
		gs_log(LOG_WARNING, "launch probes may stay: the kernel has neither set nor "
				    "removed them for some seconds");
		gs_launches_forget();
	} else {
		gs_launches_free(s->launches);
	}
	s->launches = s->ending = NULL;
	s->launching = NULL;
	s->launch_again = sd_event_source_disable_unref(s->launch_again);
}

/* ---- who wants it ------------------------------------------------------------------------------ */

void gs_service_launches_update(struct gs_service *s)
{
	if (!s->opts.daemon || s->launching || s->launching_ends || gs_service_launches_wanted(s))
		return;
	if (s->launches) {
		s->ending = TAKE_PTR(s->launches);
		set_out(s, NULL);
	} else if (!s->starting) { /* of an earlier instance, or left when they might do harm */
		gs_launches_clear(gs_service_launches_trusted(s), NULL);
	}
}

void gs_service_launches_event(struct gs_service *s, const struct gpusched_event *ev)
{
	if (!s->launches)
		return;
	if (ev->type == GPUSCHED_EV_CLIENT || ev->type == GPUSCHED_EV_TSG_NEW)
		gs_launches_process(s->launches, (pid_t)ev->pid);
	else if (ev->type == GPUSCHED_EV_EXIT || ev->type == GPUSCHED_EV_EXEC)
		gs_launches_gone(s->launches, (pid_t)ev->pid);
	gs_service_launches_go_on(s);
}

void gs_service_launches_met(struct gs_service *s, pid_t pid)
{
	if (s->launches)
		gs_launches_process(s->launches, pid);
	gs_service_launches_go_on(s);
}

/* Its program's libraries, too, may have been looked for in vain. */
void gs_service_launches_answered(struct gs_service *s, enum gs_reader_what what, pid_t pid)
{
	if (what != GS_READER_PROGRAM && s->launches)
		gs_launches_process(s->launches, pid);
	gs_service_launches_go_on(s);
}
