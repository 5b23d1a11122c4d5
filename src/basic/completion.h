/* SPDX-License-Identifier: MIT */
/*
 * completion.h - stands for a result that is not ready yet, and calls its waiter
 *
 * A request that cannot be answered at once gets a completion, so that others need not wait for it.
 * The worker reports events, and the loop then checks the completions that wait for them. Each
 * completion ends once: with an answer, with an error, or cancelled. All calls come from one
 * thread. No function reads a clock.
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

/* Completions that are not over. */
struct gs_completions {
	struct gs_completion *first;
	unsigned int happened; /* bits of events since the last run */
};

struct gs_completion {
	/*
	 * The worker sets this. Returns 0 or a negative errno when the completion is over;
	 * -EINPROGRESS: not yet. May change the next three members.
	 */
	int (*check)(struct gs_completion *c, uint64_t now_ns);
	unsigned int on;  /* bits of events that may end it */
	uint64_t look_ns; /* it is checked at this time even without an event; 0: never */
	/*
	 * The last check is at this time: -ETIMEDOUT if the completion is not over then; 0: never.
	 */
	uint64_t until_ns;
	/* Frees the struct that contains @c; NULL: that struct is not on the heap. */
	void (*release)(struct gs_completion *c);

	/*
	 * The waiter sets this. Called once when the completion is over, but not if that is already
	 * so in gs_completion_begin(). May free @c.
	 */
	void (*done)(struct gs_completion *c, void *user);
	void *user;

	/* The result, once the completion is over. */
	int code;
	json_t *answer;
	char *text; /* a long answer, as text */
	/* A text shared with other completions; valid until this completion is freed. */
	const char *shared;
	struct gs_error err;

	struct gs_completions *in; /* NULL: the completion is over, or has not begun */
	struct gs_completion *prev, *next;
};

/* Checks the completion once, and again in runs of @w. */
void gs_completion_begin(struct gs_completion *c, struct gs_completions *w, uint64_t now_ns);
/* Checks a completion that has begun, without waiting for an event. */
void gs_completion_ask(struct gs_completion *c, uint64_t now_ns);
static inline bool gs_completion_is_over(const struct gs_completion *c)
{
	return c->code != -EINPROGRESS;
}
static inline bool gs_completion_is_late(const struct gs_completion *c, uint64_t now_ns)
{
	return c->until_ns && now_ns >= c->until_ns;
}
/* Ends the completion with @code and @text, unless it is over. */
void gs_completion_cancel(struct gs_completion *c, int code, const char *text);
/* Frees the completion: its waiter does not wait any longer. */
void gs_completion_free(struct gs_completion *c);

static inline void gs_completion_free_(struct gs_completion **c)
{
	gs_completion_free(*c);
}
#define CLEANUP_COMPLETION CLEANUP(gs_completion_free_)

/* Notes that events @what (bits) have happened. */
static inline void gs_completions_happened(struct gs_completions *w, unsigned int what)
{
	w->happened |= what;
}
/* Checks the completions that wait for an event that has happened, and those that are due. */
void gs_completions_run(struct gs_completions *w, uint64_t now_ns);
/* When to run next if no event happens before; 0: at once, UINT64_MAX: no need. */
uint64_t gs_completions_next(const struct gs_completions *w);
void gs_completions_cancel(struct gs_completions *w, int code, const char *text);

#endif /* GPUSCHED_BASIC_COMPLETION_H */
