// SPDX-License-Identifier: MIT
/* Counting launches: who wants it, and the verb. */
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
#include "service/starting.h"
#include "service/verbs.h"

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
	gs_loop_launches_at(s, gs_launches_due(s->launches));
}

void gs_service_launches_again(struct gs_service *s)
{
	if (s->launches)
		gs_launches_again(s->launches);
	gs_service_launches_go_on(s);
}

void gs_service_launches_end(struct gs_service *s)
{
	s->launching_ends = true;
	gs_starting_cancel(s); /* it would put another one in place */
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

/* ---- the verb -------------------------------------------------------------------------------- */

static json_t *libs_json(const struct gs_service *s)
{
	json_t *list = json_array();
	struct gs_launch_lib *libs;
	size_t n;

	if (!s->launches || gs_launches_libs(s->launches, &libs, &n))
		return list;
	for (size_t i = 0; i < n; i++)
		json_array_append_new(
			list, json_pack("{s:o, s:I, s:I, s:I, s:I, s:b, s:I, s:I}", "path",
					gs_json_text(libs[i].path), "device",
					(json_int_t)libs[i].dev, "inode", (json_int_t)libs[i].ino,
					"probes", (json_int_t)libs[i].probes, "processes",
					(json_int_t)libs[i].processes, "system", libs[i].system,
					"attached_ns", (json_int_t)libs[i].attached_ns,
					"attach_time_us", (json_int_t)libs[i].attach_us));
	free(libs);
	return list;
}

static json_t *unattributed_json(const struct gs_service *s, const struct gs_view *view)
{
	json_t *list = json_array();
	struct gs_launch_proc *procs;
	size_t n;

	if (!s->launches || gs_launches_unattributed(s->launches, &procs, &n))
		return list;
	for (size_t i = 0; i < n; i++) {
		uid_t owner;

		if (gs_view_pid(view, procs[i].pid, &owner) ||
		    !(gs_view_process(view, owner) & GS_SEES_ALL))
			continue;
		json_array_append_new(list, json_pack("{s:i, s:I, s:I}", "pid", (int)procs[i].pid,
						      "launches", (json_int_t)procs[i].launches,
						      "since_ns", (json_int_t)procs[i].since_ns));
	}
	free(procs);
	return list;
}

static json_int_t waiting(const struct gs_service *s)
{
	return s->launches ? (json_int_t)gs_launches_waiting(s->launches) : 0;
}

static void answer(struct gs_request *rq)
{
	const struct gs_service *s = rq->s;
	json_t *o = rq->answer;

	json_object_set_new(o, "on", json_boolean(s->launches != NULL));
	json_object_set_new(o, "ending", json_boolean(s->ending != NULL));
	json_object_set_new(o, "asked", json_boolean(s->launches_asked));
	json_object_set_new(o, "configured",
			    json_boolean(s->config->launches & GS_LAUNCHES_ALWAYS));
	json_object_set_new(o, "trusted", json_boolean(gs_service_launches_trusted(s)));
	json_object_set_new(o, "refused", gs_service_launches_refused(s));
	json_object_set_new(o, "policy", json_boolean(gs_service_launches_for_policy(s)));
	gs_json_put(o, "libraries", rq->view.others & GS_SEES_ALL ? libs_json(s) : NULL);
	gs_json_put(o, "waiting", rq->view.others & GS_SEES_ALL ? json_integer(waiting(s)) : NULL);
	json_object_set_new(o, "unattributed", unattributed_json(s, &rq->view));
}

/* A library is being probed, counting ends, or begins in spite of that. */
static bool is_unsettled(const struct gs_service *s)
{
	return s->launching || gs_starting_counts(s);
}

/* When the probes have gone. */
static int step_ended(struct gs_request *rq, uint64_t now_ns)
{
	if (is_unsettled(rq->s) && !gs_service_launches_wanted(rq->s))
		return -EINPROGRESS;
	answer(rq);
	return 0;
}

static int begin(struct gs_request *rq)
{
	struct gs_service *s = rq->s;
	bool asked = s->launches_asked;
	struct gs_starting *t;
	int r;

	s->launches_asked = true;
	gs_saved_launches(s, true);
	if (s->launches) {
		answer(rq);
		return 0;
	}
	r = gs_starting_begin(s, NULL, NULL, NULL, 0, &t, rq->err);
	if (r) {
		gs_saved_launches(s, asked);
		s->launches_asked = asked; /* somebody else's beginning may be under way */
		return r;
	}
	return gs_starting_answer(rq, t, answer);
}

int gs_verb_observe_launches(struct gs_request *rq)
{
	bool on = gs_arg_given(rq, "on");
	struct gs_service *s = rq->s;

	if (on && rq->peer->uid)
		return gs_fail(rq->err, -EPERM,
			       "only root may turn the counting of launches on or off");
	if (on && !s->opts.daemon)
		return gs_fail(rq->err, -ENOTSUP,
			       "counting launches needs a running daemon: start gpuschedd");
	if (gs_arg_true(rq, "on"))
		return begin(rq);
	if (on) {
		s->launches_asked = false;
		gs_saved_launches(s, false);
		gs_service_launches_update(s);
		if (is_unsettled(s))
			return gs_request_wait(rq, step_ended, GS_ON_ERRAND, 0);
	}
	answer(rq);
	return 0;
}
