// SPDX-License-Identifier: MIT
/* verbs_launches.c - handles observe_launches: switches launch counting on and off, and shows it */
#include <errno.h>
#include <stdlib.h>

#include "requests/requests.h"
#include "control/launches.h"
#include "hub/loop.h"
#include "requests/started.h"
#include "control/starting.h"
#include "requests/verbs.h"

static json_t *libs_json(const struct gs_requests *rs)
{
	json_t *list = json_array();
	struct gs_launch_lib *libs;
	size_t n;

	if (!rs->hub->launches || gs_launches_libs(rs->hub->launches, &libs, &n))
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

static json_t *unattributed_json(const struct gs_requests *rs, const struct gs_view *view)
{
	json_t *list = json_array();
	struct gs_launch_proc *procs;
	size_t n;

	if (!rs->hub->launches || gs_launches_unattributed(rs->hub->launches, &procs, &n))
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

static json_int_t waiting(const struct gs_requests *rs)
{
	return rs->hub->launches ? (json_int_t)gs_launches_waiting(rs->hub->launches) : 0;
}

static void answer(struct gs_request *rq)
{
	const struct gs_requests *rs = rq->rs;
	json_t *o = rq->answer;

	json_object_set_new(o, "on", json_boolean(rs->hub->launches != NULL));
	json_object_set_new(o, "ending", json_boolean(rs->control->ending != NULL));
	json_object_set_new(o, "asked", json_boolean(rs->control->launches_asked));
	json_object_set_new(o, "leases", json_integer(rs->control->launch_leases));
	json_object_set_new(o, "configured",
			    json_boolean(rs->hub->config->launches & GS_LAUNCHES_ALWAYS));
	json_object_set_new(o, "trusted", json_boolean(gs_service_launches_trusted(rs->control)));
	json_object_set_new(o, "refused", gs_service_launches_refused(rs->control));
	json_object_set_new(o, "policy", json_boolean(gs_service_launches_for_policy(rs->control)));
	gs_json_put(o, "libraries", rq->view.others & GS_SEES_ALL ? libs_json(rs) : NULL);
	gs_json_put(o, "waiting", rq->view.others & GS_SEES_ALL ? json_integer(waiting(rs)) : NULL);
	json_object_set_new(o, "unattributed", unattributed_json(rs, &rq->view));
}

/* True while the counting of launches is being started or ended. */
static bool is_unsettled(const struct gs_requests *rs)
{
	return rs->control->launching || gs_starting_counts(rs->control);
}

/* Answers once the probes are removed, or at once if launches are needed again meanwhile. */
static int step_ended(struct gs_request *rq, uint64_t now_ns)
{
	if (is_unsettled(rq->rs) && !gs_service_launches_wanted(rq->rs->control))
		return -EINPROGRESS;
	answer(rq);
	return 0;
}

static int begin(struct gs_request *rq)
{
	struct gs_requests *rs = rq->rs;
	bool asked = rs->control->launches_asked;
	struct gs_starting *t;
	int r;

	rs->control->launches_asked = true;
	gs_saved_launches(rs->control, true);
	if (rs->hub->launches) {
		answer(rq);
		return 0;
	}
	r = gs_starting_begin(rs->control, NULL, NULL, NULL, 0, &t, rq->err);
	if (r) {
		gs_saved_launches(rs->control, asked);
		/* another request may be starting the counting */
		rs->control->launches_asked = asked;
		return r;
	}
	return gs_request_wait_start(rq, t, answer);
}

int gs_verb_observe_launches(struct gs_request *rq)
{
	bool on = gs_arg_given(rq, "on");
	struct gs_requests *rs = rq->rs;

	if (on && rq->peer->uid)
		return gs_fail(rq->err, -EPERM,
			       "only root may turn the counting of launches on or off");
	if (on && !rs->hub->opts.daemon)
		return gs_fail(rq->err, -ENOTSUP,
			       "counting launches needs a running daemon: start gpuschedd");
	if (gs_arg_true(rq, "on"))
		return begin(rq);
	if (on) {
		rs->control->launches_asked = false;
		gs_saved_launches(rs->control, false);
		gs_service_launches_update(rs->control);
		if (is_unsettled(rs))
			return gs_request_wait(rq, step_ended, GS_ON_TASK, 0);
	}
	answer(rq);
	return 0;
}
