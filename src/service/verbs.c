// SPDX-License-Identifier: MIT
/* The one table of verbs, and the way every request goes. */
#include <inttypes.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "service/internal.h"

#define MAX_FOR_US (366ll * 24 * 3600 * 1000000)
#define TURN_NS (5 * NS_PER_S) /* longest that a request waits until it may begin */

#define ALONE GS_VERB_ALONE
#define READS GS_VERB_READS
#define ROOT GS_VERB_ROOT
#define OWNER GS_VERB_OWNER

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
#define POLICY \
	{ \
		"name", GS_ARG_TEXT, true, "of a policy, or an absolute path" \
	}
#define OPTIONS \
	{ \
		"options", GS_ARG_TEXTS, false, "key=value", 0, GS_POLICY_OPTIONS_MAX \
	}

const struct gs_verb gs_verbs[] = {
	{ "list", gs_verb_list, READS, { TARGET_OR_ALL } },
	{ "stats", gs_verb_stats, READS },
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
	{ "restore", gs_verb_restore, ALONE | ROOT },
	{ "class_set",
	  gs_verb_class_set,
	  OWNER,
	  { TARGET, { "class", GS_ARG_TEXT, true, "the name of a class" }, WEIGHT } },
	{ "class_clear", gs_verb_class_clear, OWNER, { TARGET } },
	{ "class_get", gs_verb_class_get, READS, { TARGET_OR_ALL } },
	{ "class_list", gs_verb_class_list, READS },
	{ "class_explain",
	  gs_verb_class_explain,
	  READS,
	  { { "target", GS_ARG_TARGET, true, "pid:N alone" } } },
	{ "policy_get", gs_verb_policy_get, READS },
	{ "policy_start", gs_verb_policy_start, ROOT, { POLICY, OPTIONS } },
	{ "policy_switch", gs_verb_policy_switch, ROOT, { POLICY, OPTIONS } },
	{ "policy_stop", gs_verb_policy_stop, ROOT },
	{ "observe_status", gs_verb_observe_status, ALONE | READS },
	{ "observe_on", gs_verb_observe_on, ALONE | ROOT },
	{ "observe_off", gs_verb_observe_off, ALONE | ROOT },
	{ "observe_launches",
	  gs_verb_observe_launches,
	  READS,
	  { { "on", GS_ARG_BOOL, false, "root: count launches, or end it" } } },
	{ "ping", gs_verb_ping, ALONE | READS },
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

static int check_service(const struct gs_service *s, const struct gs_verb *v, struct gs_error *err)
{
	if (!s && !(v->flags & ALONE))
		return gs_fail(err, -ENOTSUP, "%s needs an open instance", v->name);
	if (s && s->opts.read_only && !(v->flags & (READS | ALONE)))
		return gs_fail(err, -ENOTSUP, "%s: this handle was opened read-only", v->name);
	return 0;
}

/* In the words of the command line: policy_start is "policy start" there. */
static int refuse(const char *verb, struct gs_error *err)
{
	int noun = (int)strcspn(verb, "_");

	return gs_fail(err, -EPERM, "only root may use '%.*s%s%s'", noun, verb,
		       verb[noun] ? " " : "", verb[noun] ? verb + noun + 1 : "");
}

/* @ret_gpu: with -EAGAIN, see struct gs_request */
static int call(struct gs_service *s, const struct gs_peer *peer, const struct gs_verb *v,
		const json_t *args, json_t **ret_answer, struct gs_pending **ret_pending,
		uint32_t *ret_gpu, struct gs_error *err)
{
	CLEANUP_JSON json_t *empty = json_object();
	CLEANUP_JSON json_t *answer = json_object();
	struct gs_request rq = { s, peer, args ? args : empty, answer, err, ret_pending };
	int r;

	if (!empty || !answer)
		return -ENOMEM;
	r = gs_args_check(v, rq.args, err);
	if (!r)
		r = check_service(s, v, err);
	if (!r && (v->flags & ROOT) && peer->uid)
		r = refuse(v->name, err);
	if (!r)
		r = v->fn(&rq);
	*ret_gpu = rq.gpu;
	if (r)
		return r;
	*ret_answer = json_incref(answer);
	return 0;
}

/* ---- requests that may not begin yet --------------------------------------------------------- */

struct turn {
	struct gs_pending base, *inner; /* once it has begun */
	struct gs_service *s;
	struct gs_peer peer;
	const struct gs_verb *v;
	json_t *args;
	uint32_t gpu;
	uint64_t until;
};

static int turn_poll(struct gs_pending *base, json_t **ret_answer, struct gs_error *err)
{
	struct turn *t = (struct turn *)base;
	int r = -EAGAIN;

	if (t->inner)
		return gs_pending_poll(t->inner, ret_answer, err);
	if (!gs_engine_wait(t->s->e, t->gpu))
		r = call(t->s, &t->peer, t->v, t->args, ret_answer, &t->inner, &t->gpu, err);
	if (r != -EAGAIN)
		return r;
	if (gs_now_ns() < t->until)
		return -EINPROGRESS;
	return gs_fail(err, -EBUSY,
		       "control calls have had their share of this GPU's time: try "
		       "again in a while");
}

static void turn_free(struct gs_pending *base)
{
	struct turn *t = (struct turn *)base;

	gs_pending_free(t->inner);
	json_decref(t->args);
	free(t);
}

static int wait_for_turn(struct turn what, const json_t *args, struct gs_pending **ret)
{
	struct turn *t = malloc(sizeof(*t));

	if (!t)
		return -ENOMEM;
	*t = what;
	t->base = (struct gs_pending){ turn_poll, turn_free };
	t->args = json_deep_copy(args);
	t->until = gs_now_ns() + TURN_NS;
	*ret = &t->base;
	return -EINPROGRESS;
}

int gs_service_verb_begin(struct gs_service *s, const struct gs_peer *peer, const char *verb,
			  const json_t *args, json_t **ret_answer, struct gs_pending **ret_pending,
			  struct gs_error *err)
{
	const struct gs_verb *v = find(verb);
	uint32_t gpu;
	int r;

	if (s)
		gs_count(s, GS_SVC_REQUESTS);
	r = v ? call(s, peer, v, args, ret_answer, ret_pending, &gpu, err)
	      : gs_fail(err, -EINVAL, "there is no verb '%.64s'", verb);
	if (r == -EAGAIN && ret_pending)
		r = wait_for_turn((struct turn){ .s = s, .peer = *peer, .v = v, .gpu = gpu }, args,
				  ret_pending);
	if (ret_pending && r == -EINPROGRESS)
		return r;
	if (r && s)
		gs_count(s, r == -EPERM ? GS_SVC_REFUSED : GS_SVC_REQUESTS_FAILED);
	return r ? gs_fail(err, r, "%.64s: %s", verb, strerror(-r)) : 0;
}

int gs_service_verb(struct gs_service *s, const struct gs_peer *peer, const char *verb,
		    const json_t *args, json_t **ret_answer, struct gs_error *err)
{
	return gs_service_verb_begin(s, peer, verb, args, ret_answer, NULL, err);
}

int gs_pending_poll(struct gs_pending *p, json_t **ret_answer, struct gs_error *err)
{
	return p->poll(p, ret_answer, err);
}

void gs_pending_free(struct gs_pending *p)
{
	if (p)
		p->free(p);
}

int gs_request_target(struct gs_request *rq, struct gs_target *ret)
{
	const char *text = gs_arg_text(rq, "target");

	return gs_target_parse(text ? text : "all", rq->s->classes, rq->s->gpus, rq->s->ngpus, ret,
			       rq->err);
}
