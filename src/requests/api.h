/* SPDX-License-Identifier: MIT */
/*
 * api.h - prints the lists of verbs and counters, and declares the callbacks of watchers
 *
 * The functions need no open instance.
 */
#ifndef GPUSCHED_REQUESTS_API_H
#define GPUSCHED_REQUESTS_API_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Flags for the kind of service that a verb needs. */
#define GS_VERB_ALONE (1u << 0) /* needs no service: it may be NULL */
#define GS_VERB_READS (1u << 1) /* a service that was opened read-only is enough */
/* Returns these flags of a verb, or -ENOENT if there is no such verb. */
int gs_verb_flags(const char *verb);

/* Prints every verb with its arguments, as docs/api.md has them. */
void gs_verbs_print(FILE *out);
/* Returns the same list as a JSON object with the array "verbs". */
json_t *gs_verbs_json(void);
/* Prints every counter by group, as gpusched-stats(8) has them. */
void gs_stats_print_counters(FILE *out);

/* Called for each event that the watcher may see. */
typedef void (*gs_watch_fn)(const json_t *event, void *user);

/* Receives the lines of a recording. */
struct gs_trace_to {
	void (*line)(const char *text, size_t n, void *user); /* @text includes the newline */
	/*
	 * False: the receiver's buffer is full. Lines that can be deferred are then not sent until
	 * gs_service_trace_go_on().
	 */
	bool (*has_room)(void *user);
	void *user;
};

#endif /* GPUSCHED_REQUESTS_API_H */
