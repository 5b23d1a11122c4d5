/* SPDX-License-Identifier: MIT */
/*
 * completion.h - a result that is not there yet, and its waiter
 *
 * A caller that has to wait gets a completion, so that it does not keep others waiting. The worker
 * says what has happened, and the loop then asks the completions that wait for that. Each is over
 * once: with an answer, with an error, or called off. All in one thread. No function reads a clock.
 */
#ifndef GPUSCHED_BASIC_COMPLETION_H
#define GPUSCHED_BASIC_COMPLETION_H

#include <errno.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "basic/cleanup.h"
#include "basic/error.h"

struct gs_completion;

/* Those that are not over. */
struct gs_waits {
	struct gs_completion *first;
	unsigned int happened; /* since the last run */
};

struct gs_completion {
	/*
	 * The worker's. 0 or a negative errno: it is over; -EINPROGRESS: not yet. May change the
	 * next three.
	 */
	int (*check)(struct gs_completion *c, uint64_t now_ns);
	unsigned int on;   /* bits: what may end it when it happens */
	uint64_t look_ns;  /* asked then too; 0: no need */
	uint64_t until_ns; /* asked for the last time then: -ETIMEDOUT if not over; 0: never */
	void (*release)(
		struct gs_completion *c); /* frees what it is part of; NULL: not on the heap */

	/* The waiter's: called once when it is over, if that is not at once. May free it. */
	void (*done)(struct gs_completion *c, void *user);
	void *user;

	/* How it ended. */
	int code;
	json_t *answer;
	char *text;         /* of a long answer, in its place */
	const char *shared; /* the same where others have it, too: until it is freed */
	struct gs_error err;

	struct gs_waits *in; /* NULL: it is over, or has not begun */
	struct gs_completion *prev, *next;
};

/* Asks it once, and again as @w is run. */
void gs_completion_begin(struct gs_completion *c, struct gs_waits *w, uint64_t now_ns);
/* The same for one that has begun. */
void gs_completion_ask(struct gs_completion *c, uint64_t now_ns);
static inline bool gs_completion_is_over(const struct gs_completion *c)
{
	return c->code != -EINPROGRESS;
}
static inline bool gs_completion_is_late(const struct gs_completion *c, uint64_t now_ns)
{
	return c->until_ns && now_ns >= c->until_ns;
}
/* It is over with @code and @text, unless it was before. */
void gs_completion_cancel(struct gs_completion *c, int code, const char *text);
/* Nobody waits any more. */
void gs_completion_free(struct gs_completion *c);

static inline void gs_completion_free_(struct gs_completion **c)
{
	gs_completion_free(*c);
}
#define CLEANUP_COMPLETION CLEANUP(gs_completion_free_)

/* @what (bits) has happened. */
static inline void gs_waits_happened(struct gs_waits *w, unsigned int what)
{
	w->happened |= what;
}
/* Runs the checks of all that wait for an event, and of those that are due. */
void gs_waits_run(struct gs_waits *w, uint64_t now_ns);
/* When to run again, should nothing happen before; 0: at once, UINT64_MAX: no need. */
uint64_t gs_waits_next(const struct gs_waits *w);
void gs_waits_cancel(struct gs_waits *w, int code, const char *text);

#endif /* GPUSCHED_BASIC_COMPLETION_H */
