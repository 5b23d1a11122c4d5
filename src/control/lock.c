// SPDX-License-Identifier: MIT
#include "control/lock.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/env.h"
#include "engine/lock.h"
#include "table/cfg.h"

#define LOCK_PATIENCE_NS (3 * NS_PER_S) /* how long a command waits for another one */
/* a heartbeat older than this is missed; the gate uses the same time */
#define BEAT_STALE_NS NS_PER_S

/*
 * True if a daemon listens on the socket. Other holders of the lock, a guardian at work or a
 * command, will be done soon.
 */
bool gs_service_lock_has_daemon(void)
{
	CLEANUP_FD int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct sockaddr_un sun = { .sun_family = AF_UNIX };

	if (fd < 0 || strlen(gs_env()->socket) >= sizeof(sun.sun_path))
		return false;
	strcpy(sun.sun_path, gs_env()->socket);
	return !connect(fd, (struct sockaddr *)&sun, sizeof(sun)) || errno == EAGAIN;
}

int gs_service_lock(int *ret_fd, struct gs_error *err)
{
	uint64_t until = gs_now_ns() + LOCK_PATIENCE_NS;

	for (;;) {
		struct gs_error why = { 0 };
		int r = gs_lock_take(ret_fd, &why);

		if (r != -EBUSY || gs_now_ns() >= until || gs_service_lock_has_daemon())
			return r ? gs_fail(err, r, "%s", why.text) : 0;
		gs_sleep_ns(20 * NS_PER_MS);
	}
}

/*
 * True if the daemon's last heartbeat is old. It may have stopped just now: waits until the
 * heartbeat would be old.
 */
static bool is_late(struct gs_table *o)
{
	struct gpusched_cfg cfg;
	uint64_t first = 0;

	while (!gs_table_cfg(o, &cfg) && cfg.heartbeat_ns &&
	       (!first || cfg.heartbeat_ns == first)) {
		if (gs_now_ns() > cfg.heartbeat_ns + BEAT_STALE_NS)
			return true;
		first = cfg.heartbeat_ns;
		gs_sleep_ns(50 * NS_PER_MS);
	}
	return false;
}

int gs_service_lock_overtake(int *ret_fd, struct gs_error *err)
{
	CLEANUP_FD int fd = -1;
	struct gs_table *o;
	int r = gs_table_open(&o, err);

	if (r)
		return r;
	/*
	 * otherwise the lock's holder is a command, is starting, or responds: nobody acts in its
	 * place
	 */
	r = gs_service_lock_has_daemon() && is_late(o) ? gs_lock_overtake(&fd, err) : -EBUSY;
	if (!r)
		r = gs_cfg_next_epoch(o);
	if (!r)
		*ret_fd = TAKE_FD(fd);
	gs_table_close(o);
	return r;
}
