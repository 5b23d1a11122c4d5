// SPDX-License-Identifier: MIT
/* Those who want to see every event as it comes. */
#include "service/watch.h"

#include "basic/cleanup.h"
#include "service/instance.h"
#include "service/json.h"
#include "service/oddities.h"
#include "service/trace.h"

struct gs_watch {
	struct gs_watch *next;
	unsigned int token; /* 0: ended, freed after the current emission */
	struct gs_view view;
	struct gs_trace_reader *reader; /* NULL: it does not record */
	gs_watch_fn fn;
	void *user;
};

int gs_service_watch(struct gs_service *s, const struct gs_peer *peer, gs_watch_fn fn, void *user,
		     unsigned int *ret_token)
{
	struct gs_watch *w = calloc(1, sizeof(*w));

	if (!w)
		return -ENOMEM;
	w->view = gs_view_of(s, peer);
	w->fn = fn;
	w->user = user;
	w->token = ++s->next_token;
	w->next = s->watches;
	s->watches = w;
	s->watched = true;
	*ret_token = w->token;
	gs_oddities_begin(s);
	return 0;
}

int gs_service_trace(struct gs_service *s, const struct gs_peer *peer, gs_watch_fn fn,
		     const struct gs_trace_to *to, void *user, unsigned int *ret_token)
{
	const struct gs_view view = gs_view_of(s, peer);
	struct gs_trace_reader *reader = NULL;
	int r = gs_trace_reader_new(s, &view, to, &reader);

	if (!r)
		r = gs_service_watch(s, peer, fn, user, ret_token);
	if (r)
		gs_trace_reader_free(reader);
	else
		s->watches->reader = reader;
	return r;
}

void gs_service_trace_go_on(struct gs_service *s, unsigned int token)
{
	for (struct gs_watch *w = s->watches; w; w = w->next)
		if (w->token == token && w->reader)
			gs_trace_reader_go_on(w->reader);
}

static void collect(struct gs_service *s)
{
	struct gs_watch **at = &s->watches;

	while (*at) {
		struct gs_watch *w = *at;

		if (w->token) {
			at = &w->next;
			continue;
		}
		*at = w->next;
		gs_trace_reader_free(w->reader);
		free(w);
	}
	s->watched = s->watches != NULL;
}

/* A watcher may end itself from within its callback: it is freed once nobody walks the list. */
void gs_service_unwatch(struct gs_service *s, unsigned int token)
{
	for (struct gs_watch *w = s->watches; w; w = w->next)
		if (w->token == token)
			w->token = 0;
	if (!s->emitting)
		collect(s);
}

static void show(const struct gs_watch *w, json_t *event, uid_t owner)
{
	CLEANUP_JSON json_t *shown =
		owner == GS_NOBODY ? json_incref(event) : gs_view_event(&w->view, owner, event);

	if (shown)
		w->fn(shown, w->user);
}

void gs_watch_said(struct gs_service *s, json_t *event, uid_t owner)
{
	s->emitting = true;
	for (struct gs_watch *w = s->watches; w; w = w->next)
		if (w->token)
			show(w, event, owner);
	s->emitting = false;
	collect(s);
}

static void emit(struct gs_service *s, json_t *event, uid_t owner)
{
	gs_watch_said(s, event, owner);
	json_decref(event);
}

void gs_watch_event(struct gs_service *s, const struct gpusched_event *ev,
		    const struct gpusched_tsg *rec)
{
	if (s->watched)
		emit(s, gs_event_json(s, ev), rec ? rec->task.uid : gs_event_owner(s, ev));
}

void gs_watch_call(struct gs_service *s, const struct gs_engine_call *call)
{
	const struct gpusched_event ev = { .key = call->key, .id = call->id, .pid = call->pid };

	if (s->watched)
		emit(s, gs_call_json(s, call), gs_event_owner(s, &ev));
}

void gs_watch_free_all(struct gs_service *s)
{
	for (struct gs_watch *w = s->watches; w; w = w->next)
		w->token = 0;
	collect(s);
}
