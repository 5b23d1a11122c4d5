// SPDX-License-Identifier: MIT
/*
 * api_link.c - carries bytes between a user's socket and the server
 *
 * The server has one end of a pair of sockets that only the daemon holds. The user's lane has the
 * other end and the user's socket: all calls on the latter are made there (hub/lanes.h).
 */
#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "daemon/api_link.h"
#include "daemon/api_priv.h"
#include "daemon/api_spare.h"

#define ROOM (16u << 10)
#define END_MS 1000

/* One direction. */
struct half {
	char buf[ROOM];
	size_t at, n;
	bool eof, shut;
};

struct api_link {
	struct gs_lane_watch w; /* first: w.fds are the user's socket, and our end of the pair */
	struct gs_lane_job begin, end;
	struct gs_lane *lane;
	struct api_link *next;
	struct api *a;
	struct api_uid *of;
	bool serves; /* it had an end for the server */
	/* used by the lane alone */
	struct half in, out;
	bool watched, broken, ended;
	uint64_t moved_ns; /* when bytes moved last */
};

/* Links that the lanes have closed, until the loop frees them. */
struct api_links {
	_Atomic(struct api_link *) closed;
	int fd; /* wakes the loop; the daemon's alone */
	sd_event_source *source;
	struct gs_lane *roots;
};

#define USER 0
#define OURS 1

/* ---- in the lane ----------------------------------------------------------------------------- */

static ssize_t fill(struct api_link *l, struct half *h, int from)
{
	ssize_t r = h->n || h->eof ? -1 : recv(from, h->buf, ROOM, MSG_DONTWAIT);

	if (r > 0) {
		h->at = 0;
		h->n = (size_t)r;
	} else if (!r || (!h->n && !h->eof && errno != EAGAIN && errno != EINTR)) {
		h->eof = true;
	}
	return r;
}

static ssize_t empty(struct api_link *l, struct half *h, int to)
{
	ssize_t r = h->n ? send(to, h->buf + h->at, h->n, MSG_DONTWAIT | MSG_NOSIGNAL) : -1;

	if (r > 0) {
		h->at += (size_t)r;
		h->n -= (size_t)r;
		l->moved_ns = gs_now_ns();
	} else if (h->n && errno != EAGAIN && errno != EINTR) {
		l->broken = true;
	}
	return r;
}

/* Moves bytes until that would wait. The events are edge-triggered. */
static void pump(struct api_link *l, struct half *h, int from, int to)
{
	bool moved = true;

	while (moved && !l->broken) {
		moved = fill(l, h, from) > 0;
		moved |= empty(l, h, to) > 0;
	}
	if (h->eof && !h->n && !h->shut) {
		shutdown(to, SHUT_WR);
		h->shut = true;
	}
}

/* Closes the link; the loop frees it. */
static void close_link(struct api_link *l)
{
	struct api_links *links = l->a->links;
	int wake = links->fd;
	struct api_link *next = links->closed;
	uint64_t one = 1;

	if (l->watched)
		gs_lane_unwatch(l->lane, &l->w);
	for (unsigned int i = 0; i < GS_COUNT(l->w.fds); i++)
		if (l->w.fds[i] >= 0)
			close(l->w.fds[i]);
	do {
		l->next = next;
	} while (!atomic_compare_exchange_weak(&links->closed, &next, l));
	/* from here on the loop may free the link */
	if (!next && write(wake, &one, sizeof(one)) < 0)
		return; /* the loop has been woken 2^64 times, and has not looked yet */
}

/* The server is told at once that the user is gone; the user gets what the server has sent. */
static void settle(struct api_link *l)
{
	if (l->broken)
		shutdown(l->w.fds[OURS], SHUT_RDWR);
	if (l->ended && (l->broken || (l->out.eof && !l->out.n)))
		close_link(l);
}

static void on_ready(struct gs_lane_watch *w, uint32_t events)
{
	struct api_link *l = (struct api_link *)w;

	pump(l, &l->in, w->fds[USER], w->fds[OURS]);
	pump(l, &l->out, w->fds[OURS], w->fds[USER]);
	settle(l);
}

/* A user who does not read the end of an answer loses it. */
static void on_tick(struct gs_lane_watch *w)
{
	struct api_link *l = (struct api_link *)w;

	if (l->ended && gs_now_ns() - l->moved_ns > API_TIMEOUT_S * NS_PER_S)
		l->broken = true;
	settle(l);
}

static void run_begin(struct gs_lane_job *job)
{
	struct api_link *l = (struct api_link *)((char *)job - offsetof(struct api_link, begin));

	if (!l->serves) {
		close_link(l);
		return;
	}
	l->w.ready = on_ready;
	l->w.tick = on_tick;
	l->moved_ns = gs_now_ns();
	l->watched = true;
	l->broken = gs_lane_watch(l->lane, &l->w) < 0;
	on_ready(&l->w, 0);
}

static void run_end(struct gs_lane_job *job)
{
	struct api_link *l = (struct api_link *)((char *)job - offsetof(struct api_link, end));

	l->ended = true;
	l->moved_ns = gs_now_ns();
	on_ready(&l->w, 0);
}

/* ---- in the loop ----------------------------------------------------------------------------- */

static struct api_link *link_new(struct api *a, struct api_uid *u, int fd, int ours)
{
	struct api_link *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->lane = gs_lane_get(a->lanes, u->uid);
	if (!l->lane) {
		free(l);
		return NULL;
	}
	l->a = a;
	l->of = u;
	l->serves = ours >= 0;
	l->w.fds[USER] = fd;
	l->w.fds[OURS] = ours;
	l->begin.run = run_begin;
	l->end.run = run_end;
	a->nlinks++;
	return l;
}

struct api_link *api_link_new(struct api *a, struct api_uid *u, int fd, int *ret_server)
{
	const int bytes = API_SEND_BYTES;
	struct api_link *l;
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends))
		return NULL;
	setsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
	setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
	l = link_new(a, u, fd, ends[1]);
	if (!l) {
		close(ends[0]);
		close(ends[1]);
		return NULL;
	}
	*ret_server = ends[0];
	gs_lane_do(l->lane, &l->begin);
	return l;
}

void api_link_end(struct api_link *l)
{
	gs_lane_do(l->lane, &l->end);
}

struct api_uid *api_link_uid(const struct api_link *l)
{
	return l->of;
}

int api_link_peer(const struct api_link *l, struct gs_peer *ret)
{
	return api_peer_of_fd(l->w.fds[USER], ret);
}

bool api_close(struct api *a, struct api_uid *u, int fd)
{
	struct api_link *l = u ? link_new(a, u, fd, -1) : NULL;

	if (l) {
		u->closing++;
		gs_lane_do(l->lane, &l->begin);
		return true;
	}
	gs_lanes_close(a->lanes, u ? u->uid : GS_LANES_NOBODY, fd);
	return false;
}

/* Frees the links that are closed: their users may have others now. */
static void reap(struct api *a)
{
	struct api_link *l, *next;

	for (l = atomic_exchange(&a->links->closed, NULL); l; l = next) {
		next = l->next;
		if (l->serves)
			l->of->connections--;
		else
			l->of->closing--;
		a->nlinks--;
		gs_lane_put(l->lane);
		free(l);
	}
}

static int on_closed(sd_event_source *src, int fd, uint32_t events, void *user)
{
	struct api *a = user;
	uint64_t count;

	if (read(fd, &count, sizeof(count)) < 0)
		return 0;
	reap(a);
	api_spare_back(a);
	api_kick(a);
	return 0;
}

int api_links_begin(struct api *a)
{
	struct api_links *links = calloc(1, sizeof(*links));
	int r;

	if (!links)
		return -ENOMEM;
	links->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	r = links->fd < 0 ? -errno : gs_lanes_new(&a->lanes);
	if (!r)
		r = sd_event_add_io(a->event, &links->source, links->fd, EPOLLIN, on_closed, a);
	a->links = links;
	if (r >= 0) /* stays: root's commands are not to wait for a thread to begin */
		links->roots = gs_lane_get(a->lanes, 0);
	return r < 0 ? r : 0;
}

bool api_links_end(struct api *a)
{
	uint64_t until = gs_now_ns() + END_MS * NS_PER_MS;

	if (!a->links)
		return true;
	a->links->source = sd_event_source_disable_unref(a->links->source);
	for (reap(a); a->nlinks && gs_now_ns() < until; reap(a))
		gs_sleep_ns(NS_PER_MS);
	if (a->nlinks)
		return false; /* a lane still uses them */
	gs_lane_put(a->links->roots);
	gs_lanes_free(a->lanes);
	if (a->links->fd >= 0)
		close(a->links->fd);
	free(a->links);
	return true;
}
