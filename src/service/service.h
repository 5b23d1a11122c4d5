/* SPDX-License-Identifier: MIT */
/*
 * service.h - all rooms joined into one running instance, and its verbs
 *
 * The daemon and, without a daemon, the library run the same service. It owns the table, the
 * engine, the classes and the policy, reacts to events, and answers requests as JSON: one path for
 * every verb, whoever asks. Data flows one way: observe, decide, reconcile, call.
 */
#ifndef GPUSCHED_SERVICE_SERVICE_H
#define GPUSCHED_SERVICE_SERVICE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>
#include <systemd/sd-event.h>

#include "basic/completion.h"
#include "basic/error.h"
#include "config/config.h"
#include "figures/openmetrics.h"
#include "hub/limited.h"
#include "hub/peer.h"
#include "requests/api.h"

struct gs_service;

struct gs_service_opts {
	size_t size;
	bool dry_run;
	bool daemon;     /* long-lived: guardian, heartbeat, adoption at start, policy of the
			   configuration */
	bool read_only;  /* list, stats: takes no lock, reads no events, makes no calls */
	sd_event *event; /* NULL: a loop of its own, run by gs_service_run() */
};

/* Opens (turning the taps on if need be), repairs what a dead instance left, adopts, classifies. */
int gs_service_new(const struct gs_config *config, const struct gs_service_opts *opts,
		   struct gs_service **ret, struct gs_error *err);
/* Stops the policy, restores what was changed by policies (daemon: everything), frees. */
void gs_service_free(struct gs_service *s);

/* One turn of its own loop; waits @ms at most (-1: no limit). 0, -EINTR: a signal came, -errno. */
int gs_service_run(struct gs_service *s, int ms);

/*
 * @config takes the place of the configuration, which the caller may free then. On failure the old
 * one is in force as before. For a daemon.
 */
int gs_service_reload(struct gs_service *s, const struct gs_config *config, struct gs_error *err);

/* The classes, rules and such of this configuration can be used: file, line and what if not. */
int gs_service_check_config(const struct gs_config *config, struct gs_error *err);

/*
 * One verb, e.g. "list", {"target": "pid:12"}. What is given back is over at once, or when the loop
 * has come that far (controls: within 5 s; a policy: when compiler and verifier are done). Then its
 * code is 0, and its answer an object, or a negative errno, with one line in err (EPERM, EINVAL,
 * ENOENT, ...). NULL: out of memory. Free it before the service.
 */
struct gs_completion *gs_service_ask(struct gs_service *s, const struct gs_peer *peer,
				     const char *verb, const json_t *args);
/* The same with arguments as they came, JSON of @n bytes, which it takes: read in that user's turn. */
struct gs_completion *gs_service_ask_text(struct gs_service *s, const struct gs_peer *peer,
					  const char *verb, char *body, size_t n);
/* The same for a caller that has nothing else to do. *ret_answer is a new reference. */
int gs_service_verb(struct gs_service *s, const struct gs_peer *peer, const char *verb,
		    const json_t *args, json_t **ret_answer, struct gs_error *err);
/* Ends all requests that are not over, with @text. */
void gs_service_cancel_requests(struct gs_service *s, const char *text);

/*
 * Counters and gauges in OpenMetrics, as @peer may see them: a shared text, made for all who ask in
 * the same moment.
 */
struct gs_completion *gs_service_ask_metrics(struct gs_service *s, const struct gs_peer *peer);
/* Whoever runs the service adds its own. */
void gs_service_add_metrics(struct gs_service *s, void (*put)(FILE *f, void *user), void *user);

/* Events that @peer may see, as JSON objects. Returns a token for _unwatch. */
int gs_service_watch(struct gs_service *s, const struct gs_peer *peer, gs_watch_fn fn, void *user,
		     unsigned int *ret_token);
/*
 * The same, and what a recording needs beside: lines "trace" (once), "tsg" (one there is or that
 * changed), "turns" and "counters" (docs/api.md). -ENOTSUP: nobody reads the GPUs' logs.
 */
int gs_service_trace(struct gs_service *s, const struct gs_peer *peer, gs_watch_fn fn,
		     const struct gs_trace_to *to, void *user, unsigned int *ret_token);
void gs_service_trace_go_on(struct gs_service *s, unsigned int token);
void gs_service_unwatch(struct gs_service *s, unsigned int token);

/* A limit of whoever serves users struck @uid. */
void gs_service_limited(struct gs_service *s, uid_t uid, enum gs_user_limit limit);

#endif /* GPUSCHED_SERVICE_SERVICE_H */
