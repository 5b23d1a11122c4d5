// SPDX-License-Identifier: MIT
/*
 * Serves the API: HTTP on the instance's unix socket, in the daemon's own loop. No request may hold
 * up the loop. So connections, bodies and queues are bounded, and silent peers are disconnected.
 */
#include <errno.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/env.h"
#include "basic/log.h"
#include "daemon/api_link.h"
#include "daemon/api_priv.h"

/* ---- peers ----------------------------------------------------------------------------------- */

/* Finds the peer's user. -EPERM: it is unknown. */
static int peer_of(struct MHD_Connection *c, struct gs_peer *ret)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
	const struct api_link *l = info ? info->socket_context : NULL;
	int r = l ? api_link_peer(l, ret) : -EPERM;

	if (r)
		return r;
	api_pod_set(ret, api_link_uid(l));
	return 0;
}

/* ---- verbs ----------------------------------------------------------------------------------- */

static enum MHD_Result do_verb(struct api *a, struct MHD_Connection *c, const struct gs_peer *peer,
			       const char *verb, struct api_request *rq)
{
	rq->asked = gs_service_ask_text(a->s, peer, verb, TAKE_PTR(rq->body), rq->n);
	return api_sleep(a, c, rq);
}

static enum MHD_Result do_metrics(struct api *a, struct MHD_Connection *c,
				  const struct gs_peer *peer, struct api_request *rq)
{
	rq->asked = gs_service_ask_metrics(a->s, peer);
	return api_sleep(a, c, rq);
}

static void put_counter(FILE *f, const char *name, const char *help, uint64_t value)
{
	gs_openmetrics_head(f, name, "counter", help);
	fprintf(f, "gpusched_%s_total %llu\n", name, (unsigned long long)value);
}

static void put_metrics(FILE *f, void *user)
{
	const struct api *a = user;

	put_counter(f, "connections_refused", "connections past a user's share", a->refused);
	gs_openmetrics_head(f, "watchers", "gauge", "clients that watch events");
	fprintf(f, "gpusched_watchers %u\n", a->nwatchers);
	put_counter(f, "watchers_dropped", "watchers that did not keep up", a->watchers_dropped);
	put_counter(f, "trace_lines_missed", "lines that a recorder was too slow for",
		    a->lines_missed);
}

/* ---- requests -------------------------------------------------------------------------------- */

static enum MHD_Result take_body(struct api_request *rq, const char *data, size_t *inout_n)
{
	char *grown;

	/*
	 * Read a request that is too long to its end, and drop it: otherwise the answer would not
	 * get through.
	 */
	if (rq->too_long || rq->n + *inout_n > API_BODY_LIMIT) {
		rq->too_long = true;
	} else {
		grown = realloc(rq->body, rq->n + *inout_n);
		if (!grown)
			return MHD_NO;
		memcpy(grown + rq->n, data, *inout_n);
		rq->body = grown;
		rq->n += *inout_n;
	}
	*inout_n = 0;
	return MHD_YES;
}

static enum MHD_Result answer(struct MHD_Connection *c, const char *url, struct api_request *rq)
{
	bool metrics = !strcmp(url, "/metrics");

	return api_answer(c, &rq->asked,
			  metrics ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
				  : "application/json");
}

static bool is_list(const char *url)
{
	return !strcmp(url, "/") || !strcmp(url, "/v1") || !strcmp(url, "/v1/");
}

static bool is_verb(const char *url)
{
	return !strncmp(url, "/v1/", 4) && gs_verb_flags(url + 4) >= 0;
}

/* The HTTP method that a path allows; NULL: there is no such path. */
static const char *method_of(const char *url)
{
	if (is_verb(url))
		return MHD_HTTP_METHOD_POST;
	return is_list(url) || !strcmp(url, "/v1/watch") || !strcmp(url, "/v1/trace") ||
			       !strcmp(url, "/metrics")
		       ? MHD_HTTP_METHOD_GET
		       : NULL;
}

static enum MHD_Result route(struct api *a, struct MHD_Connection *c, const char *url,
			     const char *method, struct api_request *rq)
{
	const char *allow = method_of(url);
	struct gs_peer peer;

	if (peer_of(c, &peer))
		return api_answer_error(c, -EPERM, "the peer's user cannot be told");
	if (rq->too_long)
		return api_answer_error(c, -EMSGSIZE, "the body is longer than 64 KiB");
	if (!allow)
		return api_answer_error(c, -ENOENT, "there is no such path: GET / lists the verbs");
	if (strcmp(method, allow) != 0)
		return api_answer_method(c, allow);
	if (is_list(url))
		return api_answer_verbs(c);
	if (is_verb(url))
		return do_verb(a, c, &peer, url + 4, rq);
	if (*peer.pod)
		return api_answer_error(c, -EPERM, "not from a pod");
	if (!strcmp(url, "/metrics"))
		return do_metrics(a, c, &peer, rq);
	return api_watch_open(a, c, &peer, !strcmp(url, "/v1/trace"));
}

static enum MHD_Result on_request(void *user, struct MHD_Connection *c, const char *url,
				  const char *method, const char *version, const char *data,
				  size_t *inout_n, void **context)
{
	struct api_request *rq = *context;

	if (!rq) {
		rq = *context = calloc(1, sizeof(*rq));
		return rq ? MHD_YES : MHD_NO;
	}
	if (*inout_n)
		return take_body(rq, data, inout_n);
	if (rq->asked)
		return answer(c, url, rq);
	return route(user, c, url, method, rq);
}

static void on_completed(void *user, struct MHD_Connection *c, void **context,
			 enum MHD_RequestTerminationCode code)
{
	api_request_free(*context);
	*context = NULL;
}

/* ---- the server in our loop ------------------------------------------------------------------ */

static void run_server(struct api *a)
{
	MHD_UNSIGNED_LONG_LONG ms;
	uint64_t now;

	api_hand_over(a);
	if (api_wake_next(a))
		api_kick(a);
	MHD_run(a->mhd);
	if (MHD_get_timeout(a->mhd, &ms) != MHD_YES) {
		sd_event_source_set_enabled(a->timer, SD_EVENT_OFF);
		return;
	}
	sd_event_now(a->event, CLOCK_MONOTONIC, &now);
	sd_event_source_set_time(a->timer, now + ms * 1000);
	sd_event_source_set_enabled(a->timer, SD_EVENT_ONESHOT);
}

static int on_io(sd_event_source *src, int fd, uint32_t events, void *user)
{
	run_server(user);
	return 0;
}

static int on_timer(sd_event_source *src, uint64_t us, void *user)
{
	run_server(user);
	return 0;
}

static int on_defer(sd_event_source *src, void *user)
{
	run_server(user);
	return 0;
}

static int on_beat(sd_event_source *src, uint64_t us, void *user)
{
	struct api *a = user;

	api_watch_beat(a);
	if (!a->watchers)
		return 0;
	sd_event_source_set_time(src, us + WATCH_BEAT_US);
	return sd_event_source_set_enabled(src, SD_EVENT_ONESHOT);
}

/*
 * Only one thread serves. With this flag the library takes each connection at once and does not
 * queue it for another thread, so api_on_connection() finds the user in api.adding.
 */
#if MHD_VERSION >= 0x00097707
#define SERVED_BY_ONE MHD_USE_NO_THREAD_SAFETY
#else
#define SERVED_BY_ONE 0
#endif

static int start_server(struct api *a, struct gs_error *err)
{
	a->mhd = MHD_start_daemon(
		MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET | MHD_ALLOW_SUSPEND_RESUME | SERVED_BY_ONE,
		0, NULL, NULL, on_request, a, MHD_OPTION_CONNECTION_LIMIT, API_CONNECTIONS,
		MHD_OPTION_CONNECTION_TIMEOUT, API_TIMEOUT_S, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
		(size_t)16384, MHD_OPTION_NOTIFY_CONNECTION, api_on_connection, a,
		MHD_OPTION_NOTIFY_COMPLETED, on_completed, a, MHD_OPTION_END);
	if (!a->mhd)
		return gs_fail(err, -EIO, "the API on %s cannot be served", gs_env()->socket);
	return api_listen(a, err);
}

static int add_sources(struct api *a)
{
	const union MHD_DaemonInfo *info = MHD_get_daemon_info(a->mhd, MHD_DAEMON_INFO_EPOLL_FD);
	int r;

	if (!info)
		return -EIO;
	r = sd_event_add_io(a->event, &a->io, info->epoll_fd, EPOLLIN, on_io, a);
	if (r >= 0)
		r = sd_event_add_time(a->event, &a->timer, CLOCK_MONOTONIC, 0, 10000, on_timer, a);
	if (r >= 0)
		r = sd_event_source_set_enabled(a->timer, SD_EVENT_OFF);
	if (r >= 0)
		r = sd_event_add_time(a->event, &a->beat, CLOCK_MONOTONIC, 0, 1000000, on_beat, a);
	if (r >= 0)
		r = sd_event_source_set_enabled(a->beat, SD_EVENT_OFF);
	if (r >= 0)
		r = sd_event_add_defer(a->event, &a->defer, on_defer, a);
	if (r >= 0)
		r = sd_event_source_set_enabled(a->defer, SD_EVENT_OFF);
	return r < 0 ? r : 0;
}

int api_new(sd_event *event, struct gs_service *s, struct api **ret, struct gs_error *err)
{
	struct api *a = calloc(1, sizeof(*a));
	int r;

	if (!a)
		return gs_fail(err, -ENOMEM, "out of memory");
	a->s = s;
	a->event = event;
	a->fd = a->pods_fd = a->spare_fd = -1;
	r = api_links_begin(a);
	if (!r)
		r = start_server(a, err);
	if (!r)
		r = add_sources(a);
	if (r) {
		api_free(a);
		return gs_fail(err, r, "the API cannot start: %s", strerror(-r));
	}
	gs_service_add_metrics(s, put_metrics, a);
	*ret = a;
	return 0;
}

void api_free(struct api *a)
{
	if (!a)
		return;
	if (a->mhd) {
		api_unlink(a);
		a->ending = true; /* from now on no request or watcher may begin to sleep */
		api_watch_end(a);
		gs_service_cancel_requests(a->s, "gpuschedd ends");
		while (api_wake_next(a))
			;
		MHD_run(a->mhd);
		MHD_stop_daemon(a->mhd);
		gs_service_add_metrics(a->s, NULL, NULL);
	}
	sd_event_source_unref(a->io);
	sd_event_source_unref(a->timer);
	sd_event_source_unref(a->beat);
	sd_event_source_unref(a->defer);
	api_listen_end(a);
	if (!api_links_end(a))
		return;
	api_forget_users(a);
	free(a);
}
