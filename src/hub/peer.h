/* SPDX-License-Identifier: MIT */
/*
 * peer.h - describes the user or pod that makes a request
 */
#ifndef GPUSCHED_HUB_PEER_H
#define GPUSCHED_HUB_PEER_H

#include <stdbool.h>
#include <sys/types.h>

#include "classify/classify.h"
#include "process/pod.h"

/* Credentials of the peer (or of this process). */
struct gs_peer {
	uid_t uid;
	gid_t gid;
	pid_t pid;
	/*
	 * The peer's socket while it waits, to read its groups from; -1: the peer is this process.
	 */
	int fd;
	/*
	 * The pod (or container) that the peer is, if it asks through the socket for pods; "": the
	 * peer is a user. A pod's @uid belongs to no user, and only serves quotas.
	 */
	char pod[GS_CONTAINER_LEN];
};

/* True if the peer had this group when it connected. No name is looked up. */
bool gs_peer_in_group(const struct gs_peer *peer, gid_t gid);
/* The asker for gs_class_may(); valid as long as @peer. */
struct gs_asker gs_peer_asker(const struct gs_peer *peer);

#endif /* GPUSCHED_HUB_PEER_H */
