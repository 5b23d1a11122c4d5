/* SPDX-License-Identifier: MIT */
/* ask.h - sends requests and reads streams through libgpusched, with json_t values */
#ifndef GPUSCHED_LOCAL_ASK_H
#define GPUSCHED_LOCAL_ASK_H

#include <jansson.h>
#include <stdint.h>

#include "gpusched/gpusched.h"

/*
 * Sends one verb; @args NULL: no arguments. *ret is a new reference. On failure, gpusched_error()
 * may have the reason.
 */
int gs_ask(struct gpusched *g, const char *verb, const json_t *args, json_t **ret);

typedef int (*gs_line_fn)(const json_t *event, void *user);
/* Like gpusched_watch() and gpusched_trace(). */
int gs_ask_watch(struct gpusched *g, gs_line_fn fn, void *user, uint64_t timeout_us);
int gs_ask_trace(struct gpusched *g, gs_line_fn fn, void *user, uint64_t timeout_us);

/* For CLEANUP(). */
static inline void gs_closep(struct gpusched **g)
{
	if (*g)
		gpusched_close(*g);
}

#endif /* GPUSCHED_LOCAL_ASK_H */
