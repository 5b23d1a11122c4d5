// SPDX-License-Identifier: MIT
/*
 * Runs the guardian that is a separate systemd unit. The daemon forks another guardian before its
 * first call. The unit is in another cgroup from the start, and systemd restarts it. It acts if the
 * daemon and the forked guardian are both dead.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/env.h"
#include "basic/log.h"
#include "basic/json_sheet.h"
#include "daemon/daemon.h"
#include "table/cfg.h"
#include "table/table.h"

#define RETRY_NS (20 * NS_PER_MS)
#define RETRY_FOR_NS (30 * NS_PER_S)
/* time between two looks, in case the notice of a new socket is missed */
#define LOOK_AGAIN_MS 5000

/* A pidfd of the daemon, which listens on the API's socket. */
static int daemon_pidfd(void)
{
	CLEANUP_FD int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	struct ucred cred;
	socklen_t len = sizeof(cred);
	int pidfd;

	if (fd < 0 || strlen(gs_env()->socket) >= sizeof(sun.sun_path))
		return -EINVAL;
	strcpy(sun.sun_path, gs_env()->socket);
	if (connect(fd, (struct sockaddr *)&sun, sizeof(sun)) ||
	    getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len))
		return -errno;
	pidfd = (int)syscall(SYS_pidfd_open, cred.pid, 0);
	return pidfd < 0 ? -errno : pidfd;
}

/* Waits until a daemon listens. */
static int wait_for_daemon(struct gs_error *err)
{
	CLEANUP_FD int watch = inotify_init1(IN_CLOEXEC);
	char events[4096];

	if (mkdir(gs_env()->run_dir, 0711) && errno != EEXIST)
		return gs_fail(err, -errno, "%s: %s", gs_env()->run_dir, strerror(errno));
	if (watch < 0 || inotify_add_watch(watch, gs_env()->run_dir, IN_CREATE | IN_ATTRIB) < 0)
		return gs_fail(err, -errno, "%s: %s", gs_env()->run_dir, strerror(errno));
	for (;;) {
		struct pollfd p = { .fd = watch, .events = POLLIN };
		int fd = daemon_pidfd();

		if (fd >= 0)
			return fd;
		if (poll(&p, 1, LOOK_AGAIN_MS) > 0 && read(watch, events, sizeof(events)) < 0)
			return gs_fail(err, -errno, "inotify: %s", strerror(errno));
	}
}

/* True if the daemon died: a daemon that ends in order removes its heartbeat. */
static bool died(void)
{
	struct gpusched_cfg cfg = { 0 };
	struct gs_table *o;

	if (gs_table_open(&o, NULL))
		return false;
	gs_table_cfg(o, &cfg);
	gs_table_close(o);
	return cfg.heartbeat_ns != 0;
}

static void put_back(void)
{
	const struct gs_peer root = { .uid = 0 };
	uint64_t until = gs_now_ns() + RETRY_FOR_NS;
	bool left = false; /* a setting could not be put back: it is tried until a daemon comes */

	while (left || (died() && gs_now_ns() < until)) {
		CLEANUP_JSON json_t *args = json_pack("{s:b}", "keep", 1), *answer = NULL;
		CLEANUP_FREE char *text = NULL;
		struct gs_error err = { 0 };
		int r = gs_service_verb(NULL, &root, "restore", args, &answer, &err);
		int fd;

		if (!r) {
			text = json_dumps(answer, JSON_COMPACT);
			gs_log(LOG_WARNING, "gpuschedd died: %s", text ? text : "");
			left = json_integer_value(json_object_get(answer, "failed")) > 0;
			if (!left)
				return;
		}
		if (r && r != -EBUSY)
			gs_log(LOG_ERR, "gpuschedd died: %s", err.text);
		/*
		 * a daemon that listens has restored already; otherwise the forked guardian may be
		 * restoring: try again
		 */
		fd = daemon_pidfd();
		if (fd >= 0) {
			close(fd);
			return;
		}
		gs_sleep_ns(left ? NS_PER_S : RETRY_NS);
	}
}

int guardian_run(struct gs_error *err)
{
	for (;;) {
		CLEANUP_FD int pidfd = wait_for_daemon(err);
		struct pollfd p = { .fd = pidfd, .events = POLLIN };

		if (pidfd < 0)
			return pidfd;
		while (poll(&p, 1, -1) < 0 && errno == EINTR)
			;
		put_back();
	}
}
