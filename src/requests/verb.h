/* SPDX-License-Identifier: MIT */
/*
 * verb.h - declares each verb of the API once: its handler, arguments and who may call it
 *
 * The table is in verbs.c. Each request is checked against the table first, so a handler gets only
 * arguments of the declared types. An optional argument may also be null. `gpuschedd --help-api`
 * prints the table, and docs/api.md contains that output.
 */
#ifndef GPUSCHED_REQUESTS_VERB_H
#define GPUSCHED_REQUESTS_VERB_H

#include "basic/clock.h"
#include "basic/slices.h"
#include "gpusched/abi.h"
#include "requests/view.h"
#include "basic/completion.h"
#include "hub/peer.h"
#include "requests/api.h"

/*
 * A request. The verb's handler fills @answer, or sets a step: a function that runs later, when an
 * awaited event has happened. A step may set the next step.
 */
struct gs_request {
	struct gs_completion c;
	struct gs_requests *rs; /* NULL for verbs that need nothing of the daemon */
	const struct gs_peer *peer;
	struct gs_view view; /* the rights of the peer */
	const json_t *args;
	json_t *answer; /* an object, for the verb to fill */
	struct gs_error *err;
	/* the current step: returns 0, -EINPROGRESS, or another error, like a completion's check */
	int (*step)(struct gs_request *rq, uint64_t now_ns);
	size_t size; /* bytes of memory for the answer so far; see unread.h */
	void *state; /* belongs to the steps */
	void (*free_state)(void *state);
	/* a step in a slice of time returns at this time, so that other requests can go on */
	uint64_t until_ns;
	/* the following members are private to request.c */
	struct gs_sliced sliced;
	bool works;         /* the step works rather than waits: it runs in slices of time */
	bool waited;        /* the request was queued for a slice before */
	uint64_t queued_ns; /* when it was first queued for a slice; 0: it has had one */
	size_t held;        /* bytes of @size that are charged to the user */
	char *body;         /* unparsed @args */
	size_t nbody;
	const struct gs_verb *verb;
	struct gs_peer who; /* @peer points here */
	bool entered;       /* the journal has an entry for this request */
};
typedef int (*gs_verb_fn)(struct gs_request *rq);

/*
 * Sets a step that waits: @step is called now, and whenever one of the events @on (GS_ON_*)
 * happens, and at the latest after @ms milliseconds (0: no limit). Returns -EINPROGRESS.
 */
int gs_request_wait(struct gs_request *rq, int (*step)(struct gs_request *rq, uint64_t now_ns),
		    unsigned int on, unsigned int ms);
/*
 * Sets a step that has much work to do: @step is called in slices of the user's time. The step must
 * return -EINPROGRESS when gs_request_has_time() becomes false. Returns -EINPROGRESS.
 */
int gs_request_work(struct gs_request *rq, int (*step)(struct gs_request *rq, uint64_t now_ns));
static inline bool gs_request_has_time(const struct gs_request *rq)
{
	return gs_now_ns() < rq->until_ns;
}
/* True if the caller has disconnected, so that nobody waits for the answer. */
bool gs_request_is_left(const struct gs_request *rq);
/* Sends the complete answer as soon as the engine has no calls to make, at the latest after @ms. */
int gs_request_settle(struct gs_request *rq, unsigned int ms);

enum gs_arg_type {
	GS_ARG_TEXT,     /* a string that is not empty */
	GS_ARG_TARGET,   /* a string, see target.h; the handler checks its parts */
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
#define GS_VERB_OWNER (1u << 9) /* for the process's user and root; the handler checks this */

#define GS_VERB_PODS (1u << 10) /* pods may also call it, through their own socket */

#define GS_VERB_REPORTS (1u << 11) /* root alone, and root in the daemon's own pod: gpusched-nri */

struct gs_verb {
	const char *name;
	gs_verb_fn fn;
	unsigned int flags; /* GS_VERB_* */
	struct gs_arg args[GS_ARGS_MAX];
};
extern const struct gs_verb gs_verbs[];
extern const size_t gs_nverbs;

/* ---- args.c ---------------------------------------------------------------------------------- */

/*
 * Checks that the verb declares each of @args, and that types and ranges fit. -EINVAL or -ERANGE
 * with a message.
 */
int gs_args_check(const struct gs_verb *v, const json_t *args, struct gs_error *err);
/* The settings among checked arguments. */
void gs_args_settings(const json_t *args, struct gpusched_settings *ret);

/* Prints an argument's name, type and range. */
void gs_arg_print(FILE *out, const struct gs_arg *a);
/* Adds the same facts to @list, as JSON objects. */
void gs_arg_put_json(json_t *list, const struct gs_arg *a);

/* Values of checked arguments; 0, NULL or false if the argument was not given. */
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
