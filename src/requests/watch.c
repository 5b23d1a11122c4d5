// SPDX-License-Identifier: MIT
/* watch.c - sends each event to the watchers as it happens */
#include "requests/watch.h"

#include "basic/cleanup.h"
#include "requests/requests.h"
#include "hub/json.h"
#include "requests/trace.h"

struct gs_watch {
	struct gs_watch *next;
	unsigned int token; /* 0: the watcher was removed; it is freed after the current event */
	struct gs_view view;
	struct gs_trace_reader *reader; /* NULL: the watcher does not record */
	gs_watch_fn fn;
	void *user;
};

int gs_requests_watch(struct gs_requests *rs, const struct gs_peer *peer, gs_watch_fn fn,
		      void *user, unsigned int *ret_token)
{
	struct gs_watch *w = calloc(1, sizeof(*w));

	if (!w)
		return -ENOMEM;
	w->view = gs_view_of(rs, peer);
	w->fn = fn;
	w->user = user;
	w->token = ++rs->next_token;
	w->next = rs->watches;
	rs->watches = w;
	rs->hub->watched = true;
	*ret_token = w->token;
	return 0;
}

int gs_watch_trace(struct gs_requests *rs, const struct gs_peer *peer, gs_watch_fn fn,
		   const struct gs_trace_to *to, void *user, unsigned int *ret_token)
{
	const struct gs_view view = gs_view_of(rs, peer);
	struct gs_trace_reader *reader = NULL;
	int r = gs_trace_reader_new(rs, &view, to, &reader);

	if (!r)
		r = gs_requests_watch(rs, peer, fn, user, ret_token);
	if (r)
		gs_trace_reader_free(reader);
	else
		rs->watches->reader = reader;
	return r;
}

void gs_watch_trace_go_on(struct gs_requests *rs, unsigned int token)
{
	for (struct gs_watch *w = rs->watches; w; w = w->next)
		if (w->token == token && w->reader)
			gs_trace_reader_go_on(w->reader);
}

static void collect(struct gs_requests *rs)
{
	struct gs_watch **at = &rs->watches;

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
	rs->hub->watched = rs->watches != NULL;
}

/* A callback may remove its own watcher, so watchers are freed when no loop over the list runs. */
void gs_requests_unwatch(struct gs_requests *rs, unsigned int token)
{
	for (struct gs_watch *w = rs->watches; w; w = w->next)
		if (w->token == token)
			w->token = 0;
	if (!rs->emitting)
		collect(rs);
}

static void show(const struct gs_watch *w, json_t *event, uid_t owner)
{
	CLEANUP_JSON json_t *shown =
		owner == GS_NOBODY ? json_incref(event) : gs_view_event(&w->view, owner, event);

	if (shown)
		w->fn(shown, w->user);
}

void gs_watch_said(void *self, json_t *event, uid_t owner)
{
	struct gs_requests *rs = self;
	bool within = rs->emitting;

	rs->emitting = true;
	for (struct gs_watch *w = rs->watches; w; w = w->next)
		if (w->token)
			show(w, event, owner);
	rs->emitting = within;
	/*
	 * Events can nest: showing one may drop a slow watcher, which is an event too. Only the
	 * outermost call frees watchers.
	 */
	if (!within)
		collect(rs);
}

static void emit(struct gs_requests *rs, json_t *event, uid_t owner)
{
	gs_watch_said(rs, event, owner);
	json_decref(event);
}

void gs_watch_event(void *self, const struct gpusched_event *ev, const struct gpusched_tsg *rec)
{
	struct gs_requests *rs = self;
	if (rs->hub->watched)
		emit(rs, gs_event_json(rs->hub, ev), rec ? rec->task.uid : gs_view_owner(rs, ev));
}

void gs_watch_call(void *self, const struct gs_engine_call *call)
{
	struct gs_requests *rs = self;
	const struct gpusched_event ev = { .key = call->key, .id = call->id, .pid = call->pid };

	if (rs->hub->watched)
		emit(rs, gs_call_json(rs->hub, call), gs_view_owner(rs, &ev));
}

void gs_watch_free_all(struct gs_requests *rs)
{
	for (struct gs_watch *w = rs->watches; w; w = w->next)
		w->token = 0;
	collect(rs);
}
