// SPDX-License-Identifier: MIT
/* verbs.c - declares the table of verbs */
#include "requests/verbs.h"

#include <inttypes.h>
#include <string.h>

#include "basic/cleanup.h"
#include "figures/window.h"
#include "requests/budget.h"
#include "requests/limit.h"
#include "requests/requests.h"
#include "hub/loop.h"
#include "requests/request.h"
#include "requests/verbs_gpus.h"
#include "requests/verbs_means.h"
#include "requests/verbs_park.h"
#include "requests/verbs_pods.h"

#define MAX_STATUS_US 3600000000ll
#define MAX_FOR_US (366ll * 24 * 3600 * 1000000)

#define MAX_ROOM_BYTES (1ll << 44)

#define ALONE GS_VERB_ALONE
#define READS GS_VERB_READS
#define ROOT GS_VERB_ROOT
#define OWNER GS_VERB_OWNER
#define PODS GS_VERB_PODS
#define REPORTS GS_VERB_REPORTS

#define TARGET \
	{ \
		"target", GS_ARG_TARGET, true, "" \
	}
#define TARGET_OR_ALL \
	{ \
		"target", GS_ARG_TARGET, false, "all when not given" \
	}
#define WEIGHT \
	{ \
		"weight", GS_ARG_NUMBER, false, "that of the class when not given", \
			GPUSCHED_WEIGHT_MIN, GPUSCHED_WEIGHT_MAX \
	}
#define LIMIT \
	{ \
		"limit", GS_ARG_NUMBER, false, "percent of a GPU; none of its own when not given", \
			GPUSCHED_LIMIT_MIN_PCT, GPUSCHED_LIMIT_MAX_PCT \
	}
#define REQUEST \
	{ \
		"request", GS_ARG_NUMBER, false, \
			"percent of a GPU, from root; none of its own when not given", \
			GPUSCHED_REQUEST_MIN_PCT, GPUSCHED_REQUEST_MAX_PCT \
	}
#define POLICY \
	{ \
		"name", GS_ARG_TEXT, true, "of a policy, or an absolute path" \
	}
#define OPTIONS \
	{ \
		"options", GS_ARG_TEXTS, false, "key=value", 0, GS_POLICY_OPTIONS_MAX \
	}

#define PERMANENT \
	{ \
		"permanent", GS_ARG_BOOL, false, "holds for the daemon's next starts, too" \
	}

const struct gs_verb gs_verbs[] = {
	{ "list",
	  gs_verb_list,
	  READS | PODS,
	  { TARGET_OR_ALL,
	    { "wide", GS_ARG_BOOL, false,
	      "the GPU's own id of each TSG, and its channels, too" } } },
	{ "status",
	  gs_verb_status,
	  READS | PODS,
	  { { "window_s", GS_ARG_NUMBER, false, "looks so far back; 10 when not given", 1,
	      GS_WINDOW_MAX_S },
	    { "for_us", GS_ARG_NUMBER, false, "watches for so long from now on instead", 0,
	      MAX_STATUS_US },
	    { "launches", GS_ARG_BOOL, false, "root, with for_us: counts launches meanwhile" } } },
	{ "stats",
	  gs_verb_stats,
	  READS,
	  { { "by", GS_ARG_TEXT, false,
	      "sums by process, class, cgroup (root) or gpu instead" } } },
	{ "gpus", gs_verb_gpus, READS },
	{ "history",
	  gs_verb_history,
	  ALONE | READS,
	  { { "target", GS_ARG_TEXT, false,
	      "pid:N, tsg:N, comm:NAME, user:NAME, uid:N, class:NAME, cgroup:PATH, gpu:N, "
	      "namespace:NAME, pod:NAMESPACE/NAME, job:ID; all when "
	      "not given" },
	    { "since_s", GS_ARG_NUMBER, false, "seconds since 1970", 0, INT64_MAX / 1000000 },
	    { "until_s", GS_ARG_NUMBER, false, "0: now", 0, INT64_MAX / 1000000 },
	    { "by", GS_ARG_TEXT, false,
	      "process (when not given), user, cgroup, class, gpu, partition, pod, namespace, "
	      "job" },
	    { "changes", GS_ARG_BOOL, false, "who changed what" },
	    { "calm", GS_ARG_BOOL, false, "with how much each process waits in calm minutes" } } },
	{ "budget", gs_verb_budget, READS },
	{ "set",
	  gs_verb_set,
	  OWNER,
	  { TARGET,
	    { "", GS_ARG_SETTINGS },
	    { "clear", GS_ARG_BOOL, false, "instead of settings: takes all back" } } },
	{ "preempt", gs_verb_preempt, OWNER, { TARGET } },
	{ "suspend",
	  gs_verb_suspend,
	  OWNER,
	  { TARGET, { "for_us", GS_ARG_NUMBER, false, "0: until resume", 0, MAX_FOR_US } } },
	{ "resume", gs_verb_resume, OWNER, { TARGET } },
	{ "park",
	  gs_verb_park,
	  OWNER,
	  { TARGET,
	    { "for_us", GS_ARG_NUMBER, false, "0: until unpark", 0, MAX_FOR_US },
	    { "force", GS_ARG_BOOL, false,
	      "also what started before the taps: if it shares memory it is lost" } } },
	{ "unpark",
	  gs_verb_unpark,
	  OWNER,
	  { { "target", GS_ARG_TARGET, false, "of parked processes; all when not given" } } },
	{ "parked", gs_verb_parked, 0 },
	{ "make_room",
	  gs_verb_make_room,
	  OWNER,
	  { { "target", GS_ARG_TARGET, true, "a GPU, and programs there that may be parked" },
	    { "bytes", GS_ARG_NUMBER, true, "of its memory that are to be free", 1,
	      MAX_ROOM_BYTES } } },
	{ "restore",
	  gs_verb_restore,
	  ALONE | ROOT,
	  { { "keep", GS_ARG_BOOL, false, "the next start sets again what people had set" },
	    { "classes", GS_ARG_BOOL, false, "takes back the classes that commands gave, too" } } },
	{ "class_set",
	  gs_verb_class_set,
	  OWNER,
	  { TARGET,
	    { "class", GS_ARG_TEXT, false,
	      "the name of a class; the present one when only a weight is given" },
	    WEIGHT,
	    LIMIT,
	    REQUEST,
	    { "as_uid", GS_ARG_NUMBER, false, "from root: within what this user may", 0,
	      UINT32_MAX - 1 } } },
	{ "limit",
	  gs_verb_limit,
	  OWNER,
	  { TARGET,
	    { "limit", GS_ARG_NUMBER, true,
	      "percent of a GPU for each process and all that descends from it; 0: none of its own",
	      0, GPUSCHED_LIMIT_MAX_PCT } } },
	{ "request",
	  gs_verb_request,
	  ROOT,
	  { TARGET,
	    { "request", GS_ARG_NUMBER, true,
	      "percent of a GPU for each process and all that descends from it; 0: none of its own",
	      0, GPUSCHED_REQUEST_MAX_PCT } } },
	{ "class_clear", gs_verb_class_clear, OWNER, { TARGET } },
	{ "class_get", gs_verb_class_get, READS, { TARGET_OR_ALL } },
	{ "class_list", gs_verb_class_list, READS },
	{ "class_explain",
	  gs_verb_class_explain,
	  READS,
	  { { "target", GS_ARG_TARGET, true, "only pid:N" } } },
	{ "pod_set",
	  gs_verb_pod_set,
	  ROOT | REPORTS,
	  { { "uid", GS_ARG_TEXT, true, "of the pod" },
	    { "namespace", GS_ARG_TEXT, true, "of the pod" },
	    { "pod", GS_ARG_TEXT, true, "its name" },
	    { "words", GS_ARG_TEXTS, false, "class=, weight=, limit= or request=, as annotated", 0,
	      8 } } },
	{ "pod_clear",
	  gs_verb_pod_clear,
	  ROOT | REPORTS,
	  { { "uid", GS_ARG_TEXT, true, "of the pod" } } },
	{ "pod_list", gs_verb_pod_list, ROOT | REPORTS },
	{ "pool_set",
	  gs_verb_pool_set,
	  OWNER,
	  { { "server", GS_ARG_NUMBER, true, "pid of an MPS server of the caller's", 2, INT32_MAX },
	    { "name", GS_ARG_TEXT, true, "of the pool" },
	    { "class", GS_ARG_TEXT, true, "of all its clients" },
	    { "share", GS_ARG_BOOL, false, "for several classes: lc, or normal" },
	    { "clients", GS_ARG_TEXTS, false, "their pids", 0, GS_POOL_CLIENTS },
	    { "members", GS_ARG_TEXTS, false, "pids whose descendants may be", 0,
	      GS_POOL_CLIENTS } } },
	{ "pool_end",
	  gs_verb_pool_end,
	  OWNER,
	  { { "server", GS_ARG_NUMBER, true, "that is to be left alone", 2, INT32_MAX } } },
	{ "pool_dir",
	  gs_verb_pool_dir,
	  OWNER,
	  { { "pid", GS_ARG_NUMBER, true, "the caller's own, as it knows it", 1, INT32_MAX } } },
	{ "means_get", gs_verb_means_get, READS },
	{ "means_choose",
	  gs_verb_means_choose,
	  READS,
	  { { "class", GS_ARG_TEXT, true, "that the caller's program starts in" },
	    { "exe", GS_ARG_TEXT, true, "its executable, a full path" },
	    { "args", GS_ARG_TEXTS, false, "its first arguments", 0, GS_MEANS_ARGS },
	    { "auto", GS_ARG_BOOL, false, "though its class does not say means=auto" } } },
	{ "policy_get", gs_verb_policy_get, READS },
	{ "policy_start",
	  gs_verb_policy_start,
	  ROOT,
	  { POLICY,
	    OPTIONS,
	    { "host", GS_ARG_TEXT, false, "stock, module or hooked; stock when not given" },
	    { "replace", GS_ARG_BOOL, false, "a running policy; true when not given" },
	    PERMANENT } },
	{ "policy_stop", gs_verb_policy_stop, ROOT, { PERMANENT } },
	{ "observe_status", gs_verb_observe_status, ALONE | READS },
	{ "observe_on", gs_verb_observe_on, ALONE | ROOT },
	{ "observe_off", gs_verb_observe_off, ALONE | ROOT },
	{ "observe_launches",
	  gs_verb_observe_launches,
	  READS,
	  { { "on", GS_ARG_BOOL, false, "root: count launches, or end it" } } },
	{ "ping", gs_verb_ping, ALONE | READS | PODS },
};
const size_t gs_nverbs = GS_COUNT(gs_verbs);

static const struct gs_verb *find(const char *name)
{
	for (size_t i = 0; i < gs_nverbs; i++)
		if (!strcmp(gs_verbs[i].name, name))
			return &gs_verbs[i];
	return NULL;
}

int gs_verb_flags(const char *verb)
{
	const struct gs_verb *v = find(verb);

	return v ? (int)(v->flags & (ALONE | READS)) : -ENOENT;
}

static const char *who_may(const struct gs_verb *v)
{
	return v->flags & GS_VERB_ROOT    ? "root"
	       : v->flags & GS_VERB_OWNER ? "owner or root"
					  : "anyone";
}

void gs_verbs_print(FILE *out)
{
	for (const struct gs_verb *v = gs_verbs; v < gs_verbs + gs_nverbs; v++) {
		fprintf(out, "%-18s %s\n", v->name, who_may(v));
		for (const struct gs_arg *a = v->args; a < v->args + GS_ARGS_MAX && a->name; a++)
			gs_arg_print(out, a);
	}
}

json_t *gs_verbs_json(void)
{
	json_t *verbs = json_array();

	for (const struct gs_verb *v = gs_verbs; v < gs_verbs + gs_nverbs; v++) {
		json_t *args = json_array();

		for (const struct gs_arg *a = v->args; a < v->args + GS_ARGS_MAX && a->name; a++)
			gs_arg_put_json(args, a);
		json_array_append_new(verbs, json_pack("{s:s, s:s, s:o}", "verb", v->name, "who",
						       who_may(v), "args", args));
	}
	return json_pack("{s:o}", "verbs", verbs);
}

struct gs_completion *gs_verbs_ask_text(struct gs_requests *rs, const struct gs_peer *peer,
					const char *verb, char *body, size_t n)
{
	return gs_request_new_text(rs, peer, find(verb), verb, body, n);
}

int gs_requests_verb(struct gs_requests *rs, const struct gs_peer *peer, const char *verb,
		     const json_t *args, json_t **ret_answer, struct gs_error *err)
{
	CLEANUP_COMPLETION struct gs_completion *c =
		gs_request_new(rs, peer, find(verb), verb, args);

	if (!c)
		return gs_fail(err, -ENOMEM, "out of memory");
	gs_loop_finish(rs ? rs->hub : NULL, c);
	if (c->code)
		return gs_fail(err, c->code, "%s", c->err.text);
	*ret_answer = c->text ? json_loads(c->text, 0, NULL) : TAKE_PTR(c->answer);
	return *ret_answer ? 0 : gs_fail(err, -ENOMEM, "out of memory");
}

void gs_verbs_cancel(struct gs_requests *rs, const char *text)
{
	gs_completions_cancel(&rs->hub->waits, -ECANCELED, text);
}
