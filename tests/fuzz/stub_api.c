// SPDX-License-Identifier: MIT
/*
 * stub_api.c - a service that has a verb for each type of argument, and does what the real one does
 * with them before a handler sees them
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "basic/completion.h"
#include "hub/limited.h"
#include "process/reader.h"
#include "requests/target.h"
#include "requests/verb.h"

#define TARGET \
	{ \
		"target", GS_ARG_TARGET, true, "" \
	}

const struct gs_verb gs_verbs[] = {
	{ "set",
	  NULL,
	  0,
	  { TARGET, { "", GS_ARG_SETTINGS }, { "clear", GS_ARG_BOOL, false, "" } } },
	{ "suspend", NULL, 0, { TARGET, { "for_us", GS_ARG_NUMBER, false, "", 0, 1000000 } } },
	{ "policy_start",
	  NULL,
	  0,
	  { { "name", GS_ARG_TEXT, true, "" }, { "options", GS_ARG_TEXTS, false, "", 0, 4 } } },
};
const size_t gs_nverbs = sizeof(gs_verbs) / sizeof(gs_verbs[0]);

int gs_reader_program(pid_t pid, struct gs_program *ret)
{
	return -ESRCH;
}

static const struct gs_verb *find(const char *name)
{
	for (size_t i = 0; i < gs_nverbs; i++)
		if (!strcmp(name, gs_verbs[i].name))
			return &gs_verbs[i];
	return NULL;
}

int gs_verb_flags(const char *name)
{
	return find(name) ? 0 : -ENOENT;
}

json_t *gs_verbs_json(void)
{
	return json_array();
}

/* ---- a request, which begins at once or with stub_go_on() -------------------------------------- */

#define GO_ON 1u

struct asked {
	struct gs_completion base;
	const struct gs_verb *verb;
	json_t *args;
	bool waits;
};
static struct gs_completions waits;

static int check(struct gs_completion *c, uint64_t now_ns)
{
	struct asked *q = (struct asked *)c;
	const char *text = json_string_value(json_object_get(q->args, "target"));
	struct gpusched_settings settings;
	struct gs_target target;
	int r;

	if (q->waits) {
		q->waits = false;
		return -EINPROGRESS;
	}
	if (!q->verb) {
		c->shared = "# EOF\n";
		return 0;
	}
	if (!q->args)
		return gs_fail(&c->err, -EINVAL, "the body is not JSON");
	r = gs_args_check(q->verb, q->args, &c->err);
	if (!r && text)
		r = gs_target_parse(text, NULL, NULL, 0, &target, &c->err);
	/* A refusal says why. */
	if (r && !c->err.text[0])
		abort();
	if (r)
		return r;
	gs_args_settings(q->args, &settings);
	c->text = json_dumps(q->args, JSON_COMPACT);
	return 0;
}

static void release(struct gs_completion *c)
{
	struct asked *q = (struct asked *)c;

	json_decref(q->args);
	free(q);
}

static struct gs_completion *begin(struct asked *q)
{
	q->base.check = check;
	q->base.on = GO_ON;
	q->base.release = release;
	gs_completion_begin(&q->base, &waits, 0);
	return &q->base;
}

struct gs_completion *gs_service_ask_text(struct gs_service *s, const struct gs_peer *peer,
					  const char *verb, char *body, size_t n)
{
	struct asked *q = calloc(1, sizeof(*q));

	if (!q)
		abort();
	q->verb = find(verb);
	q->args = n ? json_loadb(body, n, JSON_REJECT_DUPLICATES, NULL) : json_object();
	q->waits = json_is_true(json_object_get(q->args, "clear"));
	free(body);
	return begin(q);
}

struct gs_completion *gs_service_ask_metrics(struct gs_service *s, const struct gs_peer *peer)
{
	struct asked *q = calloc(1, sizeof(*q));

	if (!q)
		abort();
	q->waits = true; /* always made later */
	return begin(q);
}

void gs_service_cancel_requests(struct gs_service *s, const char *text)
{
	gs_completions_cancel(&waits, -EIO, text);
}

void stub_go_on(void);
static void tell_reader(void);

void stub_go_on(void)
{
	tell_reader();
	gs_completions_happened(&waits, GO_ON);
	gs_completions_run(&waits, 0);
}

int gs_class_id(const struct gs_classes *c, const char *name, uint32_t *ret)
{
	return -ENOENT;
}

const struct gs_gpu *gs_gpu_find(const struct gs_gpu *gpus, size_t n, const char *selector)
{
	return NULL;
}

void gs_service_add_metrics(struct gs_service *s, void (*put)(FILE *f, void *user), void *user)
{
}

void gs_openmetrics_head(FILE *f, const char *name, const char *type, const char *help)
{
}

int gs_service_watch(struct gs_service *s, const struct gs_peer *peer, gs_watch_fn fn, void *user,
		     unsigned int *ret_token)
{
	*ret_token = UINT32_MAX;
	return 0;
}

static struct gs_trace_to reader; /* the last one */
static unsigned int token;

int gs_service_trace(struct gs_service *s, const struct gs_peer *peer, gs_watch_fn fn,
		     const struct gs_trace_to *to, void *user, unsigned int *ret_token)
{
	*ret_token = ++token;
	reader = *to;
	reader.line("{}\n", 3, reader.user);
	return 0;
}

void gs_service_unwatch(struct gs_service *s, unsigned int ended)
{
	if (ended == token)
		reader = (struct gs_trace_to){ 0 };
}

void gs_service_trace_go_on(struct gs_service *s, unsigned int of)
{
	if (of != token || !reader.line)
		abort();
}

static void tell_reader(void)
{
	static char line[64 << 10];

	memset(line, '\n', sizeof(line));
	for (int i = 0; i < 4 && reader.line && reader.has_room(reader.user); i++)
		reader.line(line, sizeof(line), reader.user);
}

void gs_service_limited(struct gs_service *s, uid_t uid, enum gs_user_limit limit)
{
}
