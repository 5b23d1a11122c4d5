// SPDX-License-Identifier: MIT
/* observe launches: whether launches are counted, and by whose wish. */
#include <errno.h>
#include <stdlib.h>

#include "service/instance.h"
#include "service/launches.h"
#include "service/loop.h"
#include "service/started.h"
#include "service/starting.h"
#include "service/verbs.h"

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
	return gs_request_wait_start(rq, t, answer);
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
