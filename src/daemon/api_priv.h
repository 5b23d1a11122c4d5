/* SPDX-License-Identifier: MIT */
/*
 * api_priv.h - declares what the API's files share
 */
#ifndef GPUSCHED_DAEMON_API_PRIV_H
#define GPUSCHED_DAEMON_API_PRIV_H

#include <microhttpd.h>

#include "basic/user_limits.h"
#include "daemon/daemon.h"
#include "hub/lanes.h"
#include "hub/peer.h"

#define API_CONNECTIONS 256     /* connections altogether */
#define API_CONNECTIONS_ROOT 16 /* of these, for root alone */
#define API_WATCHERS 64
#define API_BODY_LIMIT (64u << 10)
#define API_TIMEOUT_S 10u            /* limit of time for a silent connection */
#define API_QUEUE_LIMIT (256u << 10) /* limit of bytes that a watcher has not read yet */
/* Bytes of an answer that each connection gets in one iteration of the loop. */
#define API_SEND_BYTES (32u << 10)
#define API_TRACE_LIMIT (2u << 20) /* as API_QUEUE_LIMIT, for a watcher that records */

struct api_request {
	/* Neighbours in the list of the user's requests that are over and not answered. */
	struct api_request *prev, *next;
	char *body;
	size_t n;
	bool too_long, over;
	struct api *a;
	struct api_uid *of;
	struct MHD_Connection *c;
	struct gs_completion *asked; /* the connection sleeps until this is over */
};

struct api_uid {
	struct api_uid *next;
	uid_t uid;
	char pod[GS_CONTAINER_LEN]; /* as in struct gs_peer, like @place */
	enum gs_peer_place place;
	unsigned int connections, watchers;
	unsigned int closing; /* refused connections that its lane has not closed yet */
	int waiting[GS_USER_MAY_CONNECTIONS]; /* accepted connections that wait for their turn */
	unsigned int nwaiting;
	struct api_request *over; /* requests that are over and wait for the user's turn */
};

struct api {
	struct gs_service *s;
	sd_event *event;
	sd_event_source *io, *listen, *listen_pods, *timer, *defer, *beat;
	struct MHD_Daemon *mhd;
	int fd;            /* the listening socket */
	int pods_fd;       /* the socket for pods */
	int spare_fd;      /* closed to accept a connection when no other descriptor is free */
	bool ending, deaf; /* @deaf: nothing is accepted until a descriptor is free */
	unsigned int open; /* connections that the server has */
	unsigned int room; /* limit for connections of users other than root */
	uint64_t refused;  /* connections that were refused, by that limit or by a user's */
	struct api_link *adding; /* the connection that the server is taking just now */
	struct gs_lanes *lanes;
	struct api_links *links;
	unsigned int nlinks;
	struct api_uid *uids;
	struct api_watcher *watchers;
	unsigned int nwatchers;
	uint64_t watchers_dropped;
	uint64_t lines_missed; /* lines that recordings have missed */
};

#define WATCH_BEAT_US (5 * 1000 * 1000) /* how often a watcher gets at least an empty line */

/* Lets the server work in the loop's next iteration. */
void api_kick(struct api *a);
/* The entry of this user, or pod; NULL: out of memory. */
struct api_uid *api_uid_of(struct api *a, const struct gs_peer *peer);

/* ---- api_accept.c */
int api_listen(struct api *a, struct gs_error *err);
/* Removes the sockets' names. */
void api_unlink(const struct api *a);
void api_listen_end(struct api *a);
/* Forgets users without connections. */
void api_forget_users(struct api *a);
/* Hands accepted connections to the server. Call this before the server runs. */
void api_hand_over(struct api *a);
void api_on_connection(void *user, struct MHD_Connection *c, void **context,
		       enum MHD_ConnectionNotificationCode code);
int api_peer_of_fd(int fd, struct gs_peer *ret);

/* ---- api_pods.c */
/* -EPERM: the peer is in no pod and no container, or it has ended. */
int api_pod_of_fd(int fd, struct gs_peer *ret);
/* A peer at the daemon's own socket. With uid 0 it counts as root only if it is the machine's. */
int api_user_of_fd(int fd, struct gs_peer *ret);
/* Makes @peer what it was found to be when it connected: the process may have ended since. */
void api_pod_set(struct gs_peer *peer, const struct api_uid *as);

/* ---- api_answer.c */
enum MHD_Result api_answer(struct MHD_Connection *c, struct gs_completion **take_asked,
			   const char *type);
enum MHD_Result api_answer_error(struct MHD_Connection *c, int code, const char *text);
/* Answers 405: the path allows only @allow. */
enum MHD_Result api_answer_method(struct MHD_Connection *c, const char *allow);
/* Answers with a list of the verbs. */
enum MHD_Result api_answer_verbs(struct MHD_Connection *c);
/* Lets the connection sleep until @rq's request is over and it is that user's turn. */
enum MHD_Result api_sleep(struct api *a, struct MHD_Connection *c, struct api_request *rq);
/* Wakes the next connection of each user, and all of root's; true: there are more. */
bool api_wake_next(struct api *a);
void api_request_free(struct api_request *rq);

/* ---- api_watch.c */
enum MHD_Result api_watch_open(struct api *a, struct MHD_Connection *c, const struct gs_peer *peer,
			       bool records);
/* Sends an empty line to each watcher, so that a reader that is gone is noticed. */
void api_watch_beat(struct api *a);
/* Ends all streams. */
void api_watch_end(struct api *a);

#endif /* GPUSCHED_DAEMON_API_PRIV_H */
