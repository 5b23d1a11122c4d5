/* SPDX-License-Identifier: MIT */
/*
 * verb.h - a verb of the API, declared once: who may call it, its arguments with types and ranges
 *
 * The table stands in verbs.c. Requests are checked against it before a handler sees them, and
 * `gpuschedd --help-api` prints it, from which docs/api.md has its list. A handler finds arguments
 * of the declared types alone; one that may be left out may also be null.
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
 * A caller waits for its request. The verb fills @answer, or leaves a step to be taken
 * when something has happened, which may leave another.
 */
struct gs_request {
	struct gs_completion c;
	struct gs_requests *rs; /* NULL for verbs that work alone */
	const struct gs_peer *peer;
	struct gs_view view; /* what it may see */
	const json_t *args;
	json_t *answer; /* an object to be filled */
	struct gs_error *err;
	/* as a completion's check */
	int (*step)(struct gs_request *rq, uint64_t now_ns);
	size_t size; /* bytes of what it has put together by now; see unread.h */
	void *state; /* of the step */
	void (*free_state)(void *state);
	/* of a step that works: it goes on until then at most; others' requests come after that */
	uint64_t until_ns;
	/* verbs.c's */
	struct gs_sliced sliced;
	bool works;         /* the step has its turn in slices */
	bool waited;        /* it had its place in line before */
	uint64_t queued_ns; /* that place; 0: it has had a turn */
	size_t held;        /* of @size, by its user's account */
	char *body;         /* that @args are made of */
	size_t nbody;
	const struct gs_verb *verb;
	struct gs_peer who;
	bool entered; /* in the journal */
};
typedef int (*gs_verb_fn)(struct gs_request *rq);

/*
 * The result of a verb with a later answer: @step is called now, when any of @on (GS_ON_*)
 * has happened, and in @ms at the latest (0: no limit).
 */
int gs_request_wait(struct gs_request *rq, int (*step)(struct gs_request *rq, uint64_t now_ns),
		    unsigned int on, unsigned int ms);
/*
 * The same for a step that waits for nothing but has much to do: it is called in this user's turns, and
 * says -EINPROGRESS when @until_ns has come.
 */
int gs_request_work(struct gs_request *rq, int (*step)(struct gs_request *rq, uint64_t now_ns));
static inline bool gs_request_has_time(const struct gs_request *rq)
{
	return gs_now_ns() < rq->until_ns;
}
/* The answer is complete: it goes out when the engine is idle, in @ms at the latest. */
int gs_request_settle(struct gs_request *rq, unsigned int ms);

enum gs_arg_type {
	GS_ARG_TEXT,     /* a string that is not empty */
	GS_ARG_TARGET,   /* a string, see target.h; its parts are checked later */
	GS_ARG_TEXTS,    /* an array of at most @max strings */
	GS_ARG_NUMBER,   /* a whole number from @min to @max */
	GS_ARG_BOOL,     /* true or false */
	GS_ARG_SETTINGS, /* stands for all that the table of settings names (rm/setting.h) */
};

struct gs_arg {
	const char *name; /* NULL ends the list */
	enum gs_arg_type type;
	bool needed;
	const char *help;
	int64_t min, max;
};
#define GS_ARGS_MAX 8

#define GS_VERB_ROOT (1u << 8)  /* root alone */
#define GS_VERB_OWNER (1u << 9) /* the process's user, and root: the handler checks it */

struct gs_verb {
	const char *name;
	gs_verb_fn fn;
	unsigned int flags; /* GS_VERB_* */
	struct gs_arg args[GS_ARGS_MAX];
};
extern const struct gs_verb gs_verbs[];
extern const size_t gs_nverbs;

/* ---- args.c ---------------------------------------------------------------------------------- */

/* All of @args is declared, and as declared. -EINVAL or -ERANGE with one line. */
int gs_args_check(const struct gs_verb *v, const json_t *args, struct gs_error *err);
/* The settings among arguments that were checked. */
void gs_args_settings(const json_t *args, struct gpusched_settings *ret);

/* Its name, type and range, for people. */
void gs_arg_print(FILE *out, const struct gs_arg *a);
/* The same as objects of @list. */
void gs_arg_put_json(json_t *list, const struct gs_arg *a);

/* Values of checked arguments; 0, NULL, false: not given. */
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
