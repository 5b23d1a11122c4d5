/* SPDX-License-Identifier: MIT */
/*
 * api.h - what needs no instance: the verbs and counters that there are, and what a watcher is
 */
#ifndef GPUSCHED_REQUESTS_API_H
#define GPUSCHED_REQUESTS_API_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Needs of a verb. */
#define GS_VERB_ALONE (1u << 0) /* works with a NULL service too: nothing need be opened */
#define GS_VERB_READS (1u << 1) /* a read-only service will do */
/* -ENOENT: no such verb. */
int gs_verb_flags(const char *verb);

/* Every verb with its arguments, for people: docs/api.md has it. */
void gs_verbs_print(FILE *out);
/* The same as JSON: the array "verbs". */
json_t *gs_verbs_json(void);
/* Every counter by group, as gpusched-stats(8) has it. */
void gs_counters_print(FILE *out);

/* An event that the watcher may see. */
typedef void (*gs_watch_fn)(const json_t *event, void *user);

/* Where lines of a recording go. */
struct gs_trace_to {
	void (*line)(const char *text, size_t n, void *user); /* with its end */
	/* False: what can wait does, until gs_service_trace_go_on(). */
	bool (*has_room)(void *user);
	void *user;
};

#endif /* GPUSCHED_REQUESTS_API_H */
