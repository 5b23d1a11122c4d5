// SPDX-License-Identifier: MIT
/* policy get, start, switch, stop. */
#include <string.h>

#include "basic/cleanup.h"
#include "service/instance.h"
#include "service/launches.h"
#include "service/policy.h"
#include "service/started.h"
#include "service/starting.h"
#include "service/verbs.h"

#define SETTLE_MS 1000 /* of what a policy leaves */

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

static json_t *said_json(const struct gs_policy *p)
{
	uint64_t ns;
	CLEANUP_FREE char *text = gs_policy_said(p, &ns);

	return text ? json_pack("{s:o, s:I}", "text", gs_json_text(text), "time_ns", (json_int_t)ns)
		    : json_null();
}

static json_t *running_json(const struct gs_service *s)
{
	json_t *o = s->p ? gs_policy_info_json(gs_policy_running(s->p), true) : NULL;

	if (!o)
		return NULL;
	json_object_set_new(o, "host", json_string(gs_host_name(s->host)));
	json_object_set_new(o, "said", said_json(s->p));
	return o;
}

int gs_verb_policy_get(struct gs_request *rq)
{
	struct gs_service *s = rq->s;

	struct gs_saved_policy kept = { 0 };
	const char *starting = gs_starting_policy(s);

	gs_json_put(rq->answer, "running", running_json(s));
	gs_json_put_text(rq->answer, "starting", starting);
	gs_json_put_text(rq->answer, "permanent",
			 gs_permanent_load(&kept, NULL) ? NULL : kept.name);
	json_object_set_new(rq->answer, "last_exit", exit_json(&s->last_exit));
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
	if (rq->s->opts.daemon)
		return 0;
	return gs_fail(rq->err, -ENOTSUP,
		       "a policy needs a running daemon: start gpuschedd (systemctl start "
		       "gpuschedd, or gpuschedd --foreground)");
}

static void fill_running(struct gs_request *rq)
{
	json_t *o = running_json(rq->s);

	json_object_update(rq->answer, o);
	json_decref(o);
	if (rq->s->p && gs_policy_running(rq->s->p)->flags & GPUSCHED_F_WORK && !rq->s->launches)
		json_object_set_new(rq->answer, "launches_refused",
				    gs_service_launches_refused(rq->s));
}

int gs_verb_policy_start(struct gs_request *rq)
{
	const char *options[GS_POLICY_OPTIONS_MAX];
	bool keep = gs_arg_given(rq, "replace") && !gs_arg_true(rq, "replace");
	struct gs_starting *t;
	size_t n;
	int r = need_daemon(rq);

	if (!r && rq->s->p && keep)
		r = gs_fail(rq->err, -EBUSY, "policy %s runs, and is not to be replaced",
			    gs_policy_running(rq->s->p)->name);
	if (!r && gs_arg_true(rq, "permanent"))
		r = gs_permanent_may(rq->s, rq->err);
	if (!r)
		r = parse_options(rq, options, &n);
	if (!r)
		r = gs_starting_begin(rq->s, gs_arg_text(rq, "name"), gs_arg_text(rq, "host"),
				      options, n, &t, rq->err);
	if (r)
		return r;
	gs_starting_chosen(t, gs_arg_true(rq, "permanent"));
	return gs_request_wait_start(rq, t, fill_running);
}

/* Afterwards none runs: one that is being started is called off. */
int gs_verb_policy_stop(struct gs_request *rq)
{
	struct gs_service *s = rq->s;
	json_t *o;
	int r = need_daemon(rq);
	bool cancelled;

	if (r)
		return r;
	if (gs_arg_true(rq, "permanent"))
		gs_permanent_forget();
	cancelled = gs_starting_call_off(s, "stopped by a person before it had started");
	if (!s->p && !cancelled && gs_arg_true(rq, "permanent"))
		return 0;
	if (!s->p && !cancelled)
		return gs_fail(rq->err, -ENOENT, "no policy runs");
	gs_service_policy_stop(s, GS_POLICY_EXIT_STOPPED, "stopped by a person");
	gs_saved_choose(s, NULL, NULL, NULL, 0);
	o = exit_json(&s->last_exit);
	json_object_update(rq->answer, o);
	json_decref(o);
	return gs_request_settle(rq, SETTLE_MS);
}
