/* SPDX-License-Identifier: MIT */
/*
 * service.h - runs an instance of gpusched, and answers its verbs
 *
 * The daemon runs a service; without a daemon, the library runs the same service in its own
 * process. It owns the table, the engine, the classes and the policy. It reacts to events, and
 * answers requests in JSON, in the same way for every caller. Data flows in one direction: observe,
 * decide, reconcile, call.
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
	/* long-lived: has a guardian and a heartbeat, adopts TSGs, starts the configured policy */
	bool daemon;
	bool read_only;  /* for list and stats: takes no lock, reads no events, makes no calls */
	sd_event *event; /* NULL: the instance makes its own loop, which gs_service_run() runs */
};

/*
 * Starts an instance: opens the table, turns the taps on if needed, restores what a dead instance
 * left changed, adopts TSGs, and classifies processes.
 */
int gs_service_new(const struct gs_config *config, const struct gs_service_opts *opts,
		   struct gs_service **ret, struct gs_error *err);
/*
 * Ends an instance: stops the policy, restores the settings that policies changed (a daemon
 * restores all settings), and frees the instance.
 */
void gs_service_free(struct gs_service *s);

/*
 * Runs one iteration of the instance's own loop; waits @ms at most (-1: no limit). Returns 0,
 * -EINTR after a signal, or -errno.
 */
int gs_service_run(struct gs_service *s, int ms);

struct gs_service_reload {
	/* Reads the configuration. Called in another thread, like the look-up of its names. */
	int (*read)(void *user, struct gs_config **ret, struct gs_error *err);
	/*
	 * Called in the loop at the end. @r 0: @config, which is the caller's to free, is in force,
	 * and the old one may be freed. Otherwise the old one stays in force.
	 */
	void (*done)(void *user, struct gs_config *config, int r, const struct gs_error *err);
	/* Called in the loop if the reading takes long. */
	void (*waits)(void *user);
	void *user;
};
/*
 * Begins to replace the configuration of a daemon. If a replacement is under way, this one begins
 * after it.
 */
int gs_service_reload(struct gs_service *s, const struct gs_service_reload *how,
		      struct gs_error *err);

/*
 * Checks whether the classes, rules and budgets of @config are valid. If not, @err has the file,
 * the line and the reason.
 */
int gs_service_check_config(const struct gs_config *config, struct gs_error *err);

/*
 * Begins a verb, for example "list" with {"target": "pid:12"}. @body is @n bytes of JSON with the
 * arguments. The service owns it then, and parses it later, in a slice of the user's time.
 * The completion is over at once or later: controls within 5 s, the start of a policy after compiler
 * and verifier. A completion that is over has code 0 and an answer, which is an object. Or it has a
 * negative errno (EPERM, EINVAL, ENOENT, ...) and a message in err. NULL: out of memory. Free the
 * completion before the service.
 */
struct gs_completion *gs_service_ask_text(struct gs_service *s, const struct gs_peer *peer,
					  const char *verb, char *body, size_t n);
/* Does a verb, and waits until it is over. *ret_answer is a new reference. */
int gs_service_verb(struct gs_service *s, const struct gs_peer *peer, const char *verb,
		    const json_t *args, json_t **ret_answer, struct gs_error *err);
/* Ends all requests that are not over yet, with the error @text. */
void gs_service_cancel_requests(struct gs_service *s, const char *text);

/*
 * Begins to write the metrics that @peer may see, as OpenMetrics text. Requests within 100 ms share
 * one text.
 */
struct gs_completion *gs_service_ask_metrics(struct gs_service *s, const struct gs_peer *peer);
/* Sets a function that writes further metrics, of the program in which the service runs. */
void gs_service_add_metrics(struct gs_service *s, void (*put)(FILE *f, void *user), void *user);

/*
 * From now on, passes the events that @peer may see to @fn, as JSON objects. *ret_token: for
 * gs_service_unwatch().
 */
int gs_service_watch(struct gs_service *s, const struct gs_peer *peer, gs_watch_fn fn, void *user,
		     unsigned int *ret_token);
/*
 * Like gs_service_watch(). Also passes to @to the lines that a recording needs (docs/api.md): one
 * "trace", then "tsg" (a TSG exists or has changed), "turns" and "counters". Returns -ENOTSUP if
 * this instance reads no GPU's log.
 */
int gs_service_trace(struct gs_service *s, const struct gs_peer *peer, gs_watch_fn fn,
		     const struct gs_trace_to *to, void *user, unsigned int *ret_token);
void gs_service_trace_go_on(struct gs_service *s, unsigned int token);
void gs_service_unwatch(struct gs_service *s, unsigned int token);

/* Counts that a limit per user, enforced by the daemon's server, took effect for @uid. */
void gs_service_limited(struct gs_service *s, uid_t uid, enum gs_user_limit limit);

#endif /* GPUSCHED_SERVICE_SERVICE_H */
