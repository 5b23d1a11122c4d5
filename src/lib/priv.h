/* SPDX-License-Identifier: MIT */
/*
 * priv.h - a handle of the library: a daemon on a socket, or an instance in this process
 *
 * Our own command line links this room itself and asks in json_t; other programs have the shared
 * library, gpusched.h and text.
 */
#ifndef GPUSCHED_LIB_PRIV_H
#define GPUSCHED_LIB_PRIV_H

#include <jansson.h>
#include <stdbool.h>

#include "basic/error.h"
#include "gpusched/gpusched.h"

struct remote;
struct local;

struct gpusched {
	uint32_t flags;
	struct gs_error err;
	struct remote *remote; /* one of the three is set */
	struct local *local;
	bool agents;  /* an ordinary user's: no daemon, but agents */
	bool may_act; /* as root, with this machine's own daemon */
};

/* One verb; @args NULL: none. 0 and a new reference, or a negative errno and gpusched_error(). */
int lib_request(struct gpusched *g, const char *verb, const json_t *args, json_t **ret);

/*
 * While a daemon of this machine is starting: waits until it listens, at most for @ns. False: none
 * listens then.
 */
bool lib_await_daemon(uint64_t ns);

typedef int (*lib_event_fn)(const json_t *event, void *user);
/* As gpusched_watch(). */
int lib_watch(struct gpusched *g, lib_event_fn fn, void *user, uint64_t timeout_us);
/* The same with turns and counters (GET /v1/trace). -ENOTSUP without a daemon. */
int lib_trace(struct gpusched *g, lib_event_fn fn, void *user, uint64_t timeout_us);

/* One verb. 0 and a new reference, or a negative errno with one line. */
int remote_request(struct remote *r, const char *verb, const json_t *args, json_t **ret,
		   struct gs_error *err);
int local_request(struct local *l, const char *verb, const json_t *args, json_t **ret,
		  struct gs_error *err);

/* Has this user programs with an agent? Some that have crashed, perhaps. */
bool agents_are_there(void);
/* list, set, preempt, suspend and resume, by the agents in the user's own programs. */
int agents_request(const char *verb, const json_t *args, json_t **ret, struct gs_error *err);

/* 0, or within 2 s -EHOSTDOWN: a daemon listens, and answers nobody. Before a stream. */
int remote_alive(struct remote *r, struct gs_error *err);

/* -ECONNREFUSED, -ENOENT: nobody listens there. */
int remote_new(const char *socket, struct remote **ret, struct gs_error *err);
void remote_free(struct remote *r);
int local_new(uint32_t flags, struct local **ret, struct gs_error *err);
/* Takes charge as far as @verb (NULL: the watch) needs it. -EBUSY: another one is in charge. */
int local_ready(struct local *l, const char *verb, struct gs_error *err);
void local_free(struct local *l);

/*
 * Events until fn returns non-zero (returned), the end (0), -ETIMEDOUT or -EINTR. The subscription
 * stays with the handle, so that a caller that comes back has missed nothing.
 */
int remote_watch(struct remote *r, const char *url, lib_event_fn fn, void *user,
		 uint64_t timeout_us, struct gs_error *err);
int local_watch(struct local *l, lib_event_fn fn, void *user, uint64_t timeout_us,
		struct gs_error *err);

/* Reads one TSG object strictly: -EPROTO when a key is missing or of another type. */
int tsg_info_read(const json_t *o, struct gpusched_tsg_info *ret);

#endif /* GPUSCHED_LIB_PRIV_H */
