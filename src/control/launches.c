// SPDX-License-Identifier: MIT
/* Begins and ends launch counting as wanted, and runs its tasks. */
#include "control/launches.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/log.h"
#include "gpusched/policy_types.h"
#include "hub/task.h"
#include "control/control.h"
#include "hub/loop.h"

bool gs_service_launches_for_policy(const struct gs_control *ctl)
{
	return ctl->hub->policy && gs_policy_running(ctl->hub->policy)->flags & GPUSCHED_F_WORK;
}

bool gs_service_launches_lasting(const struct gs_control *ctl)
{
	return ctl->launches_asked || ctl->hub->config->launches & GS_LAUNCHES_ALWAYS ||
	       gs_service_launches_for_policy(ctl);
}

bool gs_service_launches_wanted(const struct gs_control *ctl)
{
	return ctl->launch_leases || gs_service_launches_lasting(ctl);
}

bool gs_service_launches_trusted(const struct gs_control *ctl)
{
	return ctl->hub->config->launches & GS_LAUNCHES_TRUSTED;
}

json_t *gs_service_launches_refused(const struct gs_control *ctl)
{
	struct gs_error why = { 0 };

	return gs_launches_allowed(gs_service_launches_trusted(ctl), &why) ? json_string(why.text)
									   : json_null();
}

/* ---- probing a library, and ending, in a thread ------------------------------------------------ */

#define END_MS 5000

struct trip {
	struct gs_task task;
	struct gs_launch_job *job; /* NULL: counting ends */
	/* a copy, since the service may be freed before the thread ends */
	struct gs_launches *ending;
};

static void trip_work(struct gs_task *e)
{
	struct trip *t = (struct trip *)e;

	if (t->job)
		gs_launch_job_work(t->job);
	else
		gs_launches_end(t->ending);
}

static void take_result(struct gs_control *ctl, struct gs_launch_job *job)
{
	if (job) {
		gs_launches_done(ctl->hub->launches, job);
		return;
	}
	gs_launches_by_class(ctl->ending, ctl->launched);
	gs_launches_free(TAKE_PTR(ctl->ending));
	gs_log(LOG_INFO, "launches are not counted any more");
}

static void trip_end(struct gs_task *e)
{
	struct gs_control *ctl = e->owner;

	ctl->launching = NULL;
	take_result(ctl, ((struct trip *)e)->job);
	gs_service_launches_update(ctl);
	gs_service_launches_go_on(ctl);
}

static void trip_free(struct gs_task *e)
{
	free(e);
}

/* Runs the job in a thread, or here if there can be no thread. */
static void set_out(struct gs_control *ctl, struct gs_launch_job *job)
{
	struct trip here = { .job = job, .ending = ctl->ending };
	struct trip *t = calloc(1, sizeof(*t));

	if (t) {
		*t = here;
		t->task = (struct gs_task){ trip_work, trip_end, trip_free };
	}
	if (t && !gs_task_begin(&t->task, ctl->hub, ctl)) {
		ctl->launching = &t->task;
		gs_task_unref(&t->task); /* the thread has a reference, which is enough */
		return;
	}
	if (t)
		gs_task_unref(&t->task);
	trip_work(&here.task);
	take_result(ctl, job);
}

struct gs_task *gs_service_launches_ending(const struct gs_control *ctl)
{
	return ctl->ending ? ctl->launching : NULL;
}

void gs_service_launches_go_on(struct gs_control *ctl)
{
	struct gs_launch_job *job;
	uint64_t again;

	if (!ctl->hub->launches || ctl->launching_ends)
		return;
	while (!ctl->launching && (job = gs_launches_next(ctl->hub->launches)))
		set_out(ctl, job);
	ctl->hub->counters[GS_SVC_LAUNCH_LIBS_LEFT] += gs_launches_left(ctl->hub->launches, &again);
	ctl->hub->counters[GS_SVC_LAUNCH_LIBS_AGAIN] += again;
	if (ctl->launch_again)
		gs_loop_plan(ctl->launch_again, gs_launches_due(ctl->hub->launches));
}

static int on_again(sd_event_source *src, uint64_t us, void *user)
{
	struct gs_control *ctl = user;

	if (ctl->hub->launches)
		gs_launches_again(ctl->hub->launches);
	gs_service_launches_go_on(ctl);
	return 0;
}

int gs_service_launches_start(struct gs_control *ctl)
{
	return ctl->hub->opts.daemon ? gs_loop_timer(ctl->hub, on_again, ctl, &ctl->launch_again)
				     : 0;
}

void gs_service_launches_end(struct gs_control *ctl)
{
	ctl->launching_ends = true;
	if (ctl->launching)
		gs_task_leave(ctl->launching, END_MS);
	if (ctl->launching) { /* the thread hangs in the kernel: its data stays */
		gs_log(LOG_WARNING, "launch probes may stay: the kernel has neither set nor "
				    "removed them for some seconds");
		gs_launches_forget();
	} else {
		gs_launches_free(ctl->hub->launches);
	}
	ctl->hub->launches = ctl->ending = NULL;
	ctl->launching = NULL;
	ctl->launch_again = sd_event_source_disable_unref(ctl->launch_again);
}

/* ---- begin, end and events ------------------------------------------------------------------- */

void gs_service_launches_update(void *self)
{
	struct gs_control *ctl = self;
	if (!ctl->hub->opts.daemon || ctl->launching || ctl->launching_ends ||
	    gs_service_launches_wanted(ctl))
		return;
	if (ctl->hub->launches) {
		ctl->ending = TAKE_PTR(ctl->hub->launches);
		set_out(ctl, NULL);
		/*
		 * this instance or an earlier one may have left probes, where removing them could
		 * do harm
		 */
	} else if (!ctl->starting) {
		gs_launches_clear(gs_service_launches_trusted(ctl), NULL);
	}
}

void gs_service_launches_event(void *self, const struct gpusched_event *ev)
{
	struct gs_control *ctl = self;
	if (!ctl->hub->launches)
		return;
	if (ev->type == GPUSCHED_EV_CLIENT || ev->type == GPUSCHED_EV_TSG_NEW)
		gs_launches_process(ctl->hub->launches, (pid_t)ev->pid);
	else if (ev->type == GPUSCHED_EV_EXIT || ev->type == GPUSCHED_EV_EXEC)
		gs_launches_gone(ctl->hub->launches, (pid_t)ev->pid);
	gs_service_launches_go_on(ctl);
}

void gs_service_launches_events_lost(void *self, pid_t pid)
{
	struct gs_control *ctl = self;
	if (ctl->hub->launches)
		gs_launches_process(ctl->hub->launches, pid);
	gs_service_launches_go_on(ctl);
}

/* The reader could not name the process's libraries before; now it has the answer. */
void gs_service_launches_answered(void *self, enum gs_reader_what what, pid_t pid)
{
	struct gs_control *ctl = self;
	if (what == GS_READER_CUDA_MAPS && ctl->hub->launches)
		gs_launches_process(ctl->hub->launches, pid);
	gs_service_launches_go_on(ctl);
}
