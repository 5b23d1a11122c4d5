// SPDX-License-Identifier: MIT
/* verbs_policy.c - handles policy_get, policy_start and policy_stop */
#include <string.h>

#include "basic/cleanup.h"
#include "basic/env.h"
#include "requests/json.h"
#include "requests/requests.h"
#include "control/launches.h"
#include "control/policy.h"
#include "requests/started.h"
#include "control/starting.h"
#include "requests/verbs.h"

#define SETTLE_MS 1000 /* longest wait until a stopped policy's settings are restored */

static json_t *exit_json(const struct gs_policy_exit *exit)
{
	if (exit->kind == GS_POLICY_EXIT_NONE)
		return json_null();
	return json_pack("{s:o, s:s, s:i, s:o, s:o, s:I}", "policy", gs_json_text(exit->policy),
			 "kind", gs_policy_exit_name(exit->kind), "code", exit->code, "message",
			 gs_json_text(exit->message), "dump",
			 exit->dump ? gs_json_text(exit->dump) : json_null(), "time_ns",
			 (json_int_t)exit->ns);
}

json_t *gs_policy_said_json(const struct gs_policy *p)
{
	uint64_t ns;
	CLEANUP_FREE char *text = p ? gs_stock_said(p, &ns) : NULL;

	return text ? json_pack("{s:o, s:I}", "text", gs_json_text(text), "time_ns", (json_int_t)ns)
		    : json_null();
}

static json_t *running_json(const struct gs_requests *rs)
{
	json_t *o = rs->hub->policy ? gs_policy_info_json(gs_policy_running(rs->hub->policy), true)
				    : NULL;

	if (!o)
		return NULL;
	json_object_set_new(o, "host", json_string(gs_host_name(rs->control->host)));
	json_object_set_new(o, "said", gs_policy_said_json(rs->hub->policy));
	return o;
}

int gs_verb_policy_get(struct gs_request *rq)
{
	struct gs_requests *rs = rq->rs;

	struct gs_saved_policy kept = { 0 };
	const char *starting = gs_starting_policy(rs->control);

	gs_json_put(rq->answer, "running", running_json(rs));
	gs_json_put_text(rq->answer, "starting", starting);
	gs_json_put_text(rq->answer, "permanent",
			 gs_permanent_load(&kept, NULL) ? NULL : kept.name);
	json_object_set_new(rq->answer, "last_exit", exit_json(&rs->control->last_exit));
	gs_saved_policy_done(&kept);
	return 0;
}

static int parse_options(struct gs_request *rq, const char *options[GS_POLICY_OPTIONS_MAX],
			 size_t *ret_n)
{
	const json_t *list = json_object_get(rq->args, "options");

	*ret_n = 0;
	for (size_t i = 0; i < json_array_size(list); i++) {
		const char *text = json_string_value(json_array_get(list, i));

		if (!strchr(text, '=') || text[0] == '=')
			return gs_fail(rq->err, -EINVAL, "option '%.64s' is not key=value", text);
		options[(*ret_n)++] = text;
	}
	return 0;
}

static int need_daemon(const struct gs_request *rq)
{
	if (rq->rs->hub->opts.daemon)
		return 0;
	return gs_fail(rq->err, -ENOTSUP, "a policy needs a running daemon: %s",
		       gs_env_start_daemon());
}

static void fill_running(struct gs_request *rq)
{
	json_t *o = running_json(rq->rs);

	json_object_update(rq->answer, o);
	json_decref(o);
	if (rq->rs->hub->policy &&
	    gs_policy_running(rq->rs->hub->policy)->flags & GPUSCHED_F_WORK &&
	    !rq->rs->hub->launches)
		json_object_set_new(rq->answer, "launches_refused",
				    gs_service_launches_refused(rq->rs->control));
}

int gs_verb_policy_start(struct gs_request *rq)
{
	const char *options[GS_POLICY_OPTIONS_MAX];
	bool keep = gs_arg_given(rq, "replace") && !gs_arg_true(rq, "replace");
	struct gs_starting *t;
	size_t n;
	int r = need_daemon(rq);

	if (!r && rq->rs->hub->policy && keep)
		r = gs_fail(rq->err, -EBUSY, "policy %s runs, and is not to be replaced",
			    gs_policy_running(rq->rs->hub->policy)->name);
	if (!r && gs_arg_true(rq, "permanent"))
		r = gs_permanent_may(rq->rs->control, rq->err);
	if (!r)
		r = parse_options(rq, options, &n);
	if (!r)
		r = gs_starting_begin(rq->rs->control, gs_arg_text(rq, "name"),
				      gs_arg_text(rq, "host"), options, n, &t, rq->err);
	if (r)
		return r;
	gs_starting_chosen(t, gs_arg_true(rq, "permanent"));
	return gs_request_wait_start(rq, t, fill_running);
}

static void answer_exit(struct gs_request *rq)
{
	CLEANUP_JSON json_t *o = exit_json(&rq->rs->control->last_exit);

	json_object_update(rq->answer, o);
}

/*
 * Stops the policy, or cancels the start of one. Also acknowledges that the last policy ended by
 * itself, so that this is no longer reported.
 */
int gs_verb_policy_stop(struct gs_request *rq)
{
	struct gs_requests *rs = rq->rs;
	int r = need_daemon(rq);
	bool cancelled, died;

	if (r)
		return r;
	if (gs_arg_true(rq, "permanent"))
		gs_permanent_forget();
	cancelled = gs_starting_call_off(rs->control, "stopped by a person before it had started");
	died = gs_policy_note_death(rs->control);
	if (!rs->hub->policy && !cancelled && gs_arg_true(rq, "permanent"))
		return 0;
	if (!rs->hub->policy && !cancelled && died) {
		answer_exit(rq);
		return 0;
	}
	if (!rs->hub->policy && !cancelled)
		return gs_fail(rq->err, -ENOENT, "no policy runs");
	rs->control->wanted.by_config = false;
	gs_service_policy_stop(rs->control, GS_POLICY_EXIT_STOPPED, "stopped by a person");
	gs_saved_choose(rs->control, NULL, NULL, NULL, 0);
	answer_exit(rq);
	return gs_request_settle(rq, SETTLE_MS);
}
