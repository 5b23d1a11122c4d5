// SPDX-License-Identifier: MIT
/* api_kick.c - wakes the API's server, and finds a peer's user */
#include <errno.h>
#include <sys/socket.h>

#include "daemon/api_priv.h"

int api_peer_of_fd(int fd, struct gs_peer *ret)
{
	struct ucred cred;
	socklen_t len = sizeof(cred);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len))
		return -EPERM;
	*ret = (struct gs_peer){ .uid = cred.uid, .gid = cred.gid, .pid = cred.pid, .fd = fd };
	return 0;
}

void api_kick(struct api *a)
{
	int enabled = 0;
	uint64_t now;

	sd_event_source_set_enabled(a->defer, SD_EVENT_ONESHOT);
	if (!a->watchers || sd_event_source_get_enabled(a->beat, &enabled) < 0 || enabled)
		return;
	sd_event_now(a->event, CLOCK_MONOTONIC, &now);
	sd_event_source_set_time(a->beat, now + WATCH_BEAT_US);
	sd_event_source_set_enabled(a->beat, SD_EVENT_ONESHOT);
}
