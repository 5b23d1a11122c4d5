/* SPDX-License-Identifier: MIT */
/*
 * service.h - all rooms joined into one running instance, and its verbs
 *
 * The daemon and, without a daemon, the library run the same service. It owns the table, the
 * engine, the classes and the policy. It reacts to events, and answers requests as JSON: each verb
 * takes the same path for every caller. Data flows one way: observe, decide, reconcile, call.
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
	bool daemon; /* a long-lived instance: guardian, heartbeat, adoption at start, policy of the
			   configuration */
	bool read_only;  /* for list and stats: takes no lock, reads no events, makes no calls */
	sd_event *event; /* NULL: the instance has its own loop, which gs_service_run() runs */
};

/*
 * Opens the table (and turns the taps on if needed), repairs what a dead instance left, adopts and
 * classifies.
 */
int gs_service_new(const struct gs_config *config, const struct gs_service_opts *opts,
		   struct gs_service **ret, struct gs_error *err);
/* Stops the policy, restores what policies changed (a daemon restores everything), and frees. */
void gs_service_free(struct gs_service *s);

/*
 * Runs one iteration of the instance's own loop; waits @ms at most (-1: no limit). Returns 0,
 * -EINTR after a signal, or -errno.
 */
int gs_service_run(struct gs_service *s, int ms);

/*
 * Replaces the configuration by @config, which the caller may free afterwards. On failure the old
 * configuration stays in force. For a daemon.
 */
int gs_service_reload(struct gs_service *s, const struct gs_config *config, struct gs_error *err);

/*
 * Checks whether the classes, rules and the rest of @config can be used; @err gets file, line and
 * reason.
 */
int gs_service_check_config(const struct gs_config *config, struct gs_error *err);

/*
 * Begins one verb, e.g. "list", {"target": "pid:12"}. The completion is over at once or later:
 * controls within 5 s, the start of a policy when compiler and verifier are done. A completion that
 * is over has code 0 and an answer, which is an object; or it has a negative errno (EPERM, EINVAL,
 * ENOENT, ...) and one line in err. NULL: out of memory. Free the completion before the service.
 */
struct gs_completion *gs_service_ask(struct gs_service *s, const struct gs_peer *peer,
				     const char *verb, const json_t *args);
/*
 * gs_service_ask() with unparsed arguments: @body is @n bytes of JSON. Takes @body, and parses it
 * when it is that user's turn.
 */
struct gs_completion *gs_service_ask_text(struct gs_service *s, const struct gs_peer *peer,
					  const char *verb, char *body, size_t n);
/*
 * gs_service_ask() for a caller that has nothing else to do: waits. *ret_answer is a new reference.
 */
int gs_service_verb(struct gs_service *s, const struct gs_peer *peer, const char *verb,
		    const json_t *args, json_t **ret_answer, struct gs_error *err);
/* Ends all requests that are not over yet, with the error @text. */
void gs_service_cancel_requests(struct gs_service *s, const char *text);

/*
 * Makes the counters and gauges in OpenMetrics, as @peer may see them. Requests at the same moment
 * share one text.
 */
struct gs_completion *gs_service_ask_metrics(struct gs_service *s, const struct gs_peer *peer);
/* Adds metrics of the program in which the service runs. */
void gs_service_add_metrics(struct gs_service *s, void (*put)(FILE *f, void *user), void *user);

/* Passes events that @peer may see to @fn, as JSON objects. Returns a token for _unwatch. */
int gs_service_watch(struct gs_service *s, const struct gs_peer *peer, gs_watch_fn fn, void *user,
		     unsigned int *ret_token);
/*
 * gs_service_watch() with the lines that a recording needs: "trace" (once), "tsg" (a TSG exists or
 * has changed), "turns" and "counters" (docs/api.md). -ENOTSUP: the GPUs' logs are not read.
 */
int gs_service_trace(struct gs_service *s, const struct gs_peer *peer, gs_watch_fn fn,
		     const struct gs_trace_to *to, void *user, unsigned int *ret_token);
void gs_service_trace_go_on(struct gs_service *s, unsigned int token);
void gs_service_unwatch(struct gs_service *s, unsigned int token);

/* Counts that a limit of the server (the daemon) struck @uid. */
void gs_service_limited(struct gs_service *s, uid_t uid, enum gs_user_limit limit);

#endif /* GPUSCHED_SERVICE_SERVICE_H */
