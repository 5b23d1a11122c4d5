// SPDX-License-Identifier: MIT
/*
 * GET /v1/watch: events line by line, for as long as the reader keeps up. GET /v1/trace: adds turns
 * and counters; lines that a slow reader misses are counted.
 */
#include <errno.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/log.h"
#include "basic/share.h"
#include "basic/user_limits.h"
#include "daemon/api_priv.h"

struct api_watcher {
	struct api_watcher *next;
	struct api *a;
	struct MHD_Connection *c;
	uid_t uid;
	unsigned int token;
	bool suspended; /* there is nothing to send */
	bool ended;
	bool records;
	bool behind; /* lines that are not urgent wait until the watcher has read on */
	char *queue; /* not read yet: @n bytes, from @at on */
	size_t at, n, room;
	uint64_t missed; /* lines missed, and not reported yet */
};

static void wake(struct api_watcher *w)
{
	if (!w->suspended)
		return;
	w->suspended = false;
	MHD_resume_connection(w->c);
	api_kick(w->a);
}

static int reserve(struct api_watcher *w, size_t n)
{
	size_t room = w->room ? w->room : 4096;
	char *grown;

	if (w->at && w->at + w->n + n > w->room) {
		memmove(w->queue, w->queue + w->at, w->n);
		w->at = 0;
	}
	while (room < w->at + w->n + n)
		room *= 2;
	if (room == w->room)
		return 0;
	grown = realloc(w->queue, room);
	if (!grown)
		return -ENOMEM;
	w->queue = grown;
	w->room = room;
	return 0;
}

static int push(struct api_watcher *w, const char *text, size_t n)
{
	if (w->n + n > (w->records ? API_TRACE_LIMIT : API_QUEUE_LIMIT) || reserve(w, n))
		return -ENOBUFS;
	memcpy(w->queue + w->at + w->n, text, n);
	w->n += n;
	return 0;
}

/* Reports missed lines to a recording, once there is room. */
static int tell_missed(struct api_watcher *w)
{
	char text[64];
	int n;

	if (!w->missed)
		return 0;
	n = snprintf(text, sizeof(text), "{\"event\":\"missed\",\"lines\":%llu}\n",
		     (unsigned long long)w->missed);
	if (push(w, text, (size_t)n))
		return -ENOBUFS;
	w->missed = 0;
	return 0;
}

/*
 * Queues a line. If there is no room, a recording misses the line, and any other watcher is
 * disconnected, so that it never gets an incomplete stream.
 */
static void enqueue(struct api_watcher *w, const char *text, size_t n)
{
	if (w->ended)
		return;
	if (tell_missed(w) || push(w, text, n)) {
		w->missed += w->records;
		w->a->lines_missed += w->records;
		if (w->records)
			gs_service_limited(w->a->s, w->uid, GS_LIMIT_LINES);
		if (!w->records) {
			w->ended = true;
			w->a->watchers_dropped++;
			gs_service_limited(w->a->s, w->uid, GS_LIMIT_EVENTS);
		}
	}
	wake(w);
}

static void on_event(const json_t *event, void *user)
{
	CLEANUP_FREE char *text = json_dumps(event, JSON_COMPACT);
	size_t n = text ? strlen(text) : 0;

	if (!text)
		return;
	text[n] = '\n'; /* in the place of the terminating 0 */
	enqueue(user, text, n + 1);
}

static void on_line(const char *text, size_t n, void *user)
{
	enqueue(user, text, n);
}

/* True if a line that can wait may be queued: half of the room is for turns, which cannot wait. */
static bool has_room(void *user)
{
	struct api_watcher *w = user;

	w->behind |= w->n >= API_TRACE_LIMIT / 2;
	return !w->behind;
}

static ssize_t on_read(void *user, uint64_t pos, char *buf, size_t max)
{
	struct api_watcher *w = user;
	size_t n = w->n < max ? w->n : max;

	if (w->ended)
		return MHD_CONTENT_READER_END_OF_STREAM;
	if (!n) {
		w->suspended = true;
		MHD_suspend_connection(w->c);
		return 0;
	}
	memcpy(buf, w->queue + w->at, n);
	w->n -= n;
	w->at = w->n ? w->at + n : 0;
	if (w->behind && w->n < API_TRACE_LIMIT / 4) {
		w->behind = false;
		gs_service_trace_go_on(w->a->s, w->token);
	}
	return (ssize_t)n;
}

static void on_end(void *user)
{
	struct api_watcher *w = user, **at;
	struct api_uid *u = api_uid_of(w->a, &(struct gs_peer){ .uid = w->uid });

	gs_service_unwatch(w->a->s, w->token);
	for (at = &w->a->watchers; *at; at = &(*at)->next) {
		if (*at == w) {
			*at = w->next;
			break;
		}
	}
	w->a->nwatchers--;
	if (u && u->watchers)
		u->watchers--;
	free(w->queue);
	free(w);
}

static int begin(struct api_watcher *w, const struct gs_peer *peer)
{
	const struct gs_trace_to to = { on_line, has_room, w };

	return w->records ? gs_service_trace(w->a->s, peer, on_event, &to, w, &w->token)
			  : gs_service_watch(w->a->s, peer, on_event, w, &w->token);
}

/* Makes a watcher. -EBUSY: there are too many; -ENOTSUP: the GPUs' logs are not read. */
static int watcher_new(struct api *a, struct MHD_Connection *c, const struct gs_peer *peer,
		       bool records, struct api_watcher **ret)
{
	uid_t uid = peer->uid;
	struct api_uid *u = api_uid_of(a, peer);
	struct api_watcher *w;
	int r;

	if (!u || (uid && u->watchers >= GS_USER_MAY_WATCHERS) ||
	    !gs_share_allows(uid, u->watchers, a->nwatchers, API_WATCHERS)) {
		gs_service_limited(a->s, uid, GS_LIMIT_WATCHERS);
		return -EBUSY;
	}
	w = calloc(1, sizeof(*w));
	if (!w)
		return -ENOMEM;
	w->a = a;
	w->c = c;
	w->uid = uid;
	w->records = records;
	w->ended = a->ending;
	r = begin(w, peer);
	if (r) {
		free(w->queue);
		free(w);
		return r;
	}
	w->next = a->watchers;
	a->watchers = w;
	a->nwatchers++;
	u->watchers++;
	*ret = w;
	return 0;
}

enum MHD_Result api_watch_open(struct api *a, struct MHD_Connection *c, const struct gs_peer *peer,
			       bool records)
{
	struct api_watcher *w = NULL;
	struct MHD_Response *r;
	enum MHD_Result done;
	int code = watcher_new(a, c, peer, records, &w);

	if (code)
		return api_answer_error(c, code,
					code == -ENOTSUP
						? "the daemon does not read the GPUs' logs: "
						  "set Account=yes"
						: "too many watch already: try again later");
	enqueue(w, "\n", 1); /* makes the server send the header at once */
	r = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, records ? 65536 : 4096, on_read, w,
					      on_end);
	if (!r) {
		on_end(w);
		return MHD_NO;
	}
	MHD_add_response_header(r, "Content-Type", "application/x-ndjson");
	done = MHD_queue_response(c, MHD_HTTP_OK, r);
	MHD_destroy_response(r);
	return done;
}

void api_watch_beat(struct api *a)
{
	for (struct api_watcher *w = a->watchers; w; w = w->next)
		if (!w->n)
			enqueue(w, "\n", 1);
}

void api_watch_end(struct api *a)
{
	for (struct api_watcher *w = a->watchers; w; w = w->next) {
		w->ended = true;
		wake(w);
	}
}
