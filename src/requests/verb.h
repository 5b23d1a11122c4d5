/* SPDX-License-Identifier: MIT */
/*
 * verb.h - a verb of the API, declared once: who may call it, its arguments with types and ranges
 *
 * The table stands in verbs.c. Requests are checked against it before a handler sees them, and
 * `gpuschedd --help-api` prints it, from which docs/api.md has its list. So a handler gets
 * arguments of the declared types only. An optional argument may also be null.
 */
#ifndef GPUSCHED_REQUESTS_VERB_H
#define GPUSCHED_REQUESTS_VERB_H

#include "basic/clock.h"
#include "basic/slices.h"
#include "gpusched/abi.h"
#include "requests/privacy.h"
#include "basic/completion.h"
#include "hub/peer.h"
#include "requests/api.h"

/*
 * A request, for which a caller waits. The verb fills @answer, or sets a step that runs when
 * something has happened. A step may set another one.
 */
struct gs_request {
	struct gs_completion c;
	struct gs_requests *rs; /* NULL for verbs that work alone */
	const struct gs_peer *peer;
	struct gs_view view; /* what its user may see */
	const json_t *args;
	json_t *answer; /* an object, for the verb to fill */
	struct gs_error *err;
	/* like a completion's check */
	int (*step)(struct gs_request *rq, uint64_t now_ns);
	size_t size; /* bytes of memory for the answer so far; see unread.h */
	void *state; /* owned by the step */
	void (*free_state)(void *state);
	/* A step that works goes on until this time. Then others' requests have their turn. */
	uint64_t until_ns;
	/* used by verbs.c */
	struct gs_sliced sliced;
	bool works;         /* the step works: it runs in slices */
	bool waited;        /* it stood in the queue before */
	uint64_t queued_ns; /* since when it stands in the queue; 0: it has had a turn */
	size_t held;        /* the part of @size that is charged to the user */
	char *body;         /* @args are parsed from this */
	size_t nbody;
	const struct gs_verb *verb;
	struct gs_peer who;
	bool entered; /* the journal has an entry for it */
};
typedef int (*gs_verb_fn)(struct gs_request *rq);

/*
 * For a verb with a later answer: calls @step now, when any of @on (GS_ON_*) has happened, and at
 * the latest in @ms (0: no limit).
 */
int gs_request_wait(struct gs_request *rq, int (*step)(struct gs_request *rq, uint64_t now_ns),
		    unsigned int on, unsigned int ms);
/*
 * For a step that waits for nothing but has much to do: calls @step in the user's turns. The step
 * returns -EINPROGRESS when @until_ns has come.
 */
int gs_request_work(struct gs_request *rq, int (*step)(struct gs_request *rq, uint64_t now_ns));
static inline bool gs_request_has_time(const struct gs_request *rq)
{
	return gs_now_ns() < rq->until_ns;
}
/* The answer is complete. It is sent when the engine is idle, at the latest in @ms. */
int gs_request_settle(struct gs_request *rq, unsigned int ms);

enum gs_arg_type {
	GS_ARG_TEXT,     /* a string that is not empty */
	GS_ARG_TARGET,   /* a string, see target.h; its parts are checked later */
	GS_ARG_TEXTS,    /* an array of at most @max strings */
	GS_ARG_NUMBER,   /* a whole number from @min to @max */
	GS_ARG_BOOL,     /* true or false */
	GS_ARG_SETTINGS, /* stands for all settings in rm/setting.h */
};

struct gs_arg {
	const char *name; /* NULL ends the list */
	enum gs_arg_type type;
	bool needed;
	const char *help;
	int64_t min, max;
};
#define GS_ARGS_MAX 8

#define GS_VERB_ROOT (1u << 8)  /* for root alone */
#define GS_VERB_OWNER (1u << 9) /* for the process's user and root: the handler checks it */

#define GS_VERB_PODS (1u << 10) /* allowed through the socket for pods, too */

struct gs_verb {
	const char *name;
	gs_verb_fn fn;
	unsigned int flags; /* GS_VERB_* */
	struct gs_arg args[GS_ARGS_MAX];
};
extern const struct gs_verb gs_verbs[];
extern const size_t gs_nverbs;

/* ---- args.c ---------------------------------------------------------------------------------- */

/* Checks that all of @args are declared, with type and range. -EINVAL or -ERANGE with one line. */
int gs_args_check(const struct gs_verb *v, const json_t *args, struct gs_error *err);
/* The settings among checked arguments. */
void gs_args_settings(const json_t *args, struct gpusched_settings *ret);

/* Prints name, type and range. */
void gs_arg_print(FILE *out, const struct gs_arg *a);
/* Adds the same as objects to @list. */
void gs_arg_put_json(json_t *list, const struct gs_arg *a);

/* Values of checked arguments. 0, NULL or false: not given. */
static inline int64_t gs_arg_number(const struct gs_request *rq, const char *name)
{
	return json_integer_value(json_object_get(rq->args, name));
}
static inline const char *gs_arg_text(const struct gs_request *rq, const char *name)
{
	return json_string_value(json_object_get(rq->args, name));
}
static inline bool gs_arg_given(const struct gs_request *rq, const char *name)
{
	const json_t *v = json_object_get(rq->args, name);

	return v && !json_is_null(v);
}
static inline bool gs_arg_true(const struct gs_request *rq, const char *name)
{
	return json_is_true(json_object_get(rq->args, name));
}

#endif /* GPUSCHED_REQUESTS_VERB_H */
