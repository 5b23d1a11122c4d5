// SPDX-License-Identifier: MIT
#include "hub/peer.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "basic/cleanup.h"

bool gs_peer_in_group(const struct gs_peer *peer, gid_t gid)
{
	CLEANUP_FREE gid_t *groups = NULL;
	socklen_t size = 0;

	if (peer->place != GS_PEER_HERE)
		return false;
	if (peer->gid == gid)
		return true;
	if (peer->pid == getpid())
		return group_member(gid);
	if (!getsockopt(peer->fd, SOL_SOCKET, SO_PEERGROUPS, NULL, &size) || errno != ERANGE)
		return false;
	groups = malloc(size);
	if (!groups || getsockopt(peer->fd, SOL_SOCKET, SO_PEERGROUPS, groups, &size))
		return false;
	for (size_t i = 0; i < size / sizeof(*groups); i++)
		if (groups[i] == gid)
			return true;
	return false;
}

static bool asker_in_group(const void *self, gid_t gid)
{
	return gs_peer_in_group(self, gid);
}

struct gs_asker gs_peer_asker(const struct gs_peer *peer)
{
	return (struct gs_asker){ peer->uid, !peer->uid, asker_in_group, peer };
}
