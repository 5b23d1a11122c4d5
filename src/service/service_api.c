// SPDX-License-Identifier: MIT
/*
 * service_api.c - passes the public functions for requests, metrics and watchers on to src/requests
 */
#include "service/instance.h"

static struct gs_requests *requests_of(const struct gs_service *s)
{
	return s ? s->requests : NULL;
}

int gs_service_verb(struct gs_service *s, const struct gs_peer *peer, const char *verb,
		    const json_t *args, json_t **ret_answer, struct gs_error *err)
{
	return gs_requests_verb(requests_of(s), peer, verb, args, ret_answer, err);
}

void gs_service_cancel_requests(struct gs_service *s, const char *text)
{
	gs_verbs_cancel(s->requests, text);
}

struct gs_completion *gs_service_ask_text(struct gs_service *s, const struct gs_peer *peer,
					  const char *verb, char *body, size_t n)
{
	return gs_verbs_ask_text(requests_of(s), peer, verb, body, n);
}

struct gs_completion *gs_service_ask_metrics(struct gs_service *s, const struct gs_peer *peer)
{
	return gs_requests_ask_metrics(s->requests, peer);
}

void gs_service_add_metrics(struct gs_service *s, void (*put)(FILE *f, void *user), void *user)
{
	gs_requests_add_metrics(s->requests, put, user);
}

int gs_service_watch(struct gs_service *s, const struct gs_peer *peer, gs_watch_fn fn, void *user,
		     unsigned int *ret_token)
{
	return gs_requests_watch(s->requests, peer, fn, user, ret_token);
}

int gs_service_trace(struct gs_service *s, const struct gs_peer *peer, gs_watch_fn fn,
		     const struct gs_trace_to *to, void *user, unsigned int *ret_token)
{
	return gs_watch_trace(s->requests, peer, fn, to, user, ret_token);
}

void gs_service_trace_go_on(struct gs_service *s, unsigned int token)
{
	gs_watch_trace_go_on(s->requests, token);
}

void gs_service_unwatch(struct gs_service *s, unsigned int token)
{
	gs_requests_unwatch(s->requests, token);
}

void gs_service_limited(struct gs_service *s, uid_t uid, enum gs_user_limit limit)
{
	gs_limited(s->hub, uid, limit);
}
