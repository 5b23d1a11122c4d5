// SPDX-License-Identifier: MIT
/*
 * api_accept.c - accepts connections within limits, one user after the other
 *
 * All users share the kernel's one queue, so it is emptied at once. A connection beyond the limits
 * is closed before a byte of it is read. The others go to the server, one for each user in turn,
 * root's first.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "basic/env.h"
#include "basic/log.h"
#include "basic/user_limits.h"
#include "daemon/api_link.h"
#include "daemon/api_priv.h"
#include "daemon/api_spare.h"

/* Connections accepted in one iteration: as many as one user may have. */
#define AT_ONCE GS_USER_MAY_CONNECTIONS

/* ---- users ----------------------------------------------------------------------------------- */

struct api_uid *api_uid_of(struct api *a, const struct gs_peer *peer)
{
	struct api_uid *u;

	for (u = a->uids; u; u = u->next)
		if (u->uid == peer->uid && u->place == peer->place && !strcmp(u->pod, peer->pod))
			return u;
	u = calloc(1, sizeof(*u));
	if (!u)
		return NULL;
	u->uid = peer->uid;
	u->place = peer->place;
	memcpy(u->pod, peer->pod, sizeof(u->pod));
	u->next = a->uids;
	a->uids = u;
	return u;
}

/*
 * The limit for users other than root: calls need descriptors as well, and root is always accepted.
 */
static unsigned int room_for_users(void)
{
	const rlim_t own = 120, each = 4; /* a connection takes three, and its user two more */
	unsigned int room = API_CONNECTIONS - API_CONNECTIONS_ROOT;
	struct rlimit l = { 0 };

	if (!getrlimit(RLIMIT_NOFILE, &l) && l.rlim_cur < own + each * room) {
		room = l.rlim_cur < own + each ? 1 : (unsigned int)((l.rlim_cur - own) / each);
		gs_log(LOG_WARNING,
		       "with %llu descriptors users have %u connections instead of %d: raise "
		       "LimitNOFILE=",
		       (unsigned long long)l.rlim_cur, room,
		       API_CONNECTIONS - API_CONNECTIONS_ROOT);
	}
	return room;
}

/*
 * True if a user has more connections than are free for others. So there is always a place for the
 * next user.
 */
static bool is_one_too_many(const struct api *a, const struct api_uid *of)
{
	unsigned int users = 0;

	for (const struct api_uid *u = a->uids; u; u = u->next)
		users += u->uid ? u->connections : 0;
	if (!of->uid)
		return of->nwaiting == GS_USER_MAY_CONNECTIONS;
	return of->connections > GS_USER_MAY_CONNECTIONS || users > a->room ||
	       (of->connections > 1 && of->connections > a->room - users);
}

/* Forgets users without connections; otherwise the list would grow for ever. */
static void forget_idle(struct api *a)
{
	struct api_uid **at = &a->uids;

	while (*at) {
		struct api_uid *u = *at;

		if (u->connections || u->closing || u->watchers) {
			at = &u->next;
			continue;
		}
		*at = u->next;
		free(u);
	}
}

/* ---- handing over ---------------------------------------------------------------------------- */

void api_on_connection(void *user, struct MHD_Connection *c, void **context,
		       enum MHD_ConnectionNotificationCode code)
{
	struct api *a = user;

	if (code == MHD_CONNECTION_NOTIFY_STARTED) {
		*context = TAKE_PTR(a->adding);
		a->open++;
		return;
	}
	api_link_end(*context);
	a->open--;
	api_kick(a); /* another connection may wait for this place */
}

static void hand_over(struct api *a, struct api_uid *u)
{
	const struct sockaddr_un sun = { .sun_family = AF_UNIX };
	int fd = u->waiting[0], served;

	memmove(u->waiting, u->waiting + 1, --u->nwaiting * sizeof(*u->waiting));
	a->adding = api_link_new(a, u, fd, &served);
	if (!a->adding) {
		u->connections--;
		api_close(a, u, fd);
		return;
	}
	MHD_add_connection(a->mhd, served, (const struct sockaddr *)&sun, sizeof(sun));
	if (a->adding) /* the server has closed its end at once */
		api_link_end(TAKE_PTR(a->adding));
}

void api_hand_over(struct api *a)
{
	bool more = false;

	for (struct api_uid *u = a->uids; u; u = u->next) {
		if (u->nwaiting && a->open < API_CONNECTIONS)
			hand_over(a, u);
		while (!u->uid && u->nwaiting && a->open < API_CONNECTIONS)
			hand_over(a, u);
		more |= u->nwaiting && a->open < API_CONNECTIONS;
	}
	forget_idle(a);
	if (more)
		api_kick(a);
}

/* ---- accepting ------------------------------------------------------------------------------- */

/* Accepts or closes a connection. Takes @fd. */
static void take_in(struct api *a, int fd, bool of_pod)
{
	struct gs_peer peer;
	int r = of_pod ? api_pod_of_fd(fd, &peer) : api_user_of_fd(fd, &peer);
	struct api_uid *u = r ? NULL : api_uid_of(a, &peer);

	if (!u) {
		u = api_peer_of_fd(fd, &peer) ? NULL : api_uid_of(a, &peer);
		api_close(a, u, fd);
		return;
	}
	u->connections++;
	if (is_one_too_many(a, u)) {
		u->connections--;
		a->refused++;
		gs_service_limited(a->s, u->uid, GS_LIMIT_CONNECTIONS);
		api_close(a, u, fd);
		return;
	}
	u->waiting[u->nwaiting++] = fd;
}

/*
 * Refuses one connection with the spare descriptor: without any descriptor the queue could not be
 * emptied. Then nothing is accepted until the lane has closed it; otherwise the loop would spin.
 */
static void refuse_one(struct api *a, int listening)
{
	struct gs_peer peer;
	int fd;

	if (a->spare_fd >= 0)
		close(TAKE_FD(a->spare_fd));
	fd = accept4(listening, NULL, NULL, SOCK_CLOEXEC);
	if (fd >= 0 && api_close(a, api_peer_of_fd(fd, &peer) ? NULL : api_uid_of(a, &peer), fd))
		api_spare_lack(a);
	else
		api_spare_open(a);
	a->refused++;
}

static int on_listen(sd_event_source *src, int fd, uint32_t events, void *user)
{
	struct api *a = user;

	for (unsigned int i = 0; i < AT_ONCE; i++) {
		int c = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (c < 0 && (errno == EMFILE || errno == ENFILE))
			refuse_one(a, fd);
		if (c < 0)
			break;
		take_in(a, c, fd == a->pods_fd);
	}
	api_kick(a);
	return 0;
}

/* ---- the socket ------------------------------------------------------------------------------ */

/*
 * Removes a dead daemon's socket, and nothing else: another file belongs to somebody else, and
 * stays.
 */
static int make_way(const struct sockaddr_un *sun, struct gs_error *err)
{
	CLEANUP_FD int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct stat st;

	if (lstat(sun->sun_path, &st))
		return errno == ENOENT
			       ? 0
			       : gs_fail(err, -errno, "%s: %s", sun->sun_path, strerror(errno));
	if (!S_ISSOCK(st.st_mode))
		return gs_fail(err, -EEXIST, "%s is in the way and is not a socket: remove it",
			       sun->sun_path);
	if (fd < 0 || !connect(fd, (const struct sockaddr *)sun, sizeof(*sun)) || errno == EAGAIN)
		return gs_fail(err, -EADDRINUSE, "another program listens on %s: stop it",
			       sun->sun_path);
	if (unlink(sun->sun_path) && errno != ENOENT)
		return gs_fail(err, -errno, "%s: %s", sun->sun_path, strerror(errno));
	return 0;
}

static int listen_on(const char *path, struct gs_error *err)
{
	CLEANUP_FD int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	int r;

	if (strlen(path) >= sizeof(sun.sun_path))
		return gs_fail(err, -ENAMETOOLONG, "%s is too long for a socket", path);
	strcpy(sun.sun_path, path);
	/* we hold the instance's lock, so a socket on which nobody listens is a dead daemon's */
	r = make_way(&sun, err);
	if (r)
		return r;
	/*
	 * The mode is set last: the guardian waits for that change, and will then find us
	 * listening.
	 */
	if (fd < 0 || bind(fd, (struct sockaddr *)&sun, sizeof(sun)) || listen(fd, SOMAXCONN) ||
	    chmod(path, 0666))
		return gs_fail(err, -errno, "%s: %s", path, strerror(errno));
	return TAKE_FD(fd);
}

#define PODS_PATH (sizeof(gs_env()->run_dir) + 16)

static void pods_path(char ret[PODS_PATH], const char *name)
{
	snprintf(ret, PODS_PATH, "%s/pods%s", gs_env()->run_dir, name);
}

/*
 * Makes the socket in a separate folder, so that a pod can mount that folder without the other
 * socket.
 */
static int listen_for_pods(struct api *a, struct gs_error *err)
{
	char path[PODS_PATH];

	pods_path(path, "");
	if (mkdir(path, 0755) && errno != EEXIST)
		return gs_fail(err, -errno, "%s: %s", path, strerror(errno));
	pods_path(path, "/api");
	a->pods_fd = listen_on(path, err);
	return a->pods_fd < 0 ? a->pods_fd
			      : sd_event_add_io(a->event, &a->listen_pods, a->pods_fd, EPOLLIN,
						on_listen, a);
}

int api_listen(struct api *a, struct gs_error *err)
{
	int r;

	a->room = room_for_users();
	if (api_spare_open(a) < 0)
		return gs_fail(err, -errno, "/dev/null: %s", strerror(errno));
	r = listen_for_pods(a, err);
	if (r < 0)
		return r;
	a->fd = listen_on(gs_env()->socket, err);
	if (a->fd < 0)
		return a->fd;
	r = sd_event_add_io(a->event, &a->listen, a->fd, EPOLLIN, on_listen, a);
	return r < 0 ? r : 0;
}

void api_unlink(const struct api *a)
{
	char path[PODS_PATH];

	pods_path(path, "/api");
	if (a->pods_fd >= 0)
		unlink(path);
	if (a->fd >= 0)
		unlink(gs_env()->socket);
}

void api_listen_end(struct api *a)
{
	a->listen = sd_event_source_disable_unref(a->listen);
	a->listen_pods = sd_event_source_disable_unref(a->listen_pods);
	if (a->fd >= 0)
		close(a->fd);
	if (a->pods_fd >= 0)
		close(a->pods_fd);
	if (a->spare_fd >= 0)
		close(a->spare_fd);
	for (struct api_uid *u = a->uids; u; u = u->next) {
		for (unsigned int i = 0; i < u->nwaiting; i++)
			api_close(a, u, u->waiting[i]);
		u->connections -= u->nwaiting;
		u->nwaiting = 0;
	}
}

void api_forget_users(struct api *a)
{
	forget_idle(a);
}
