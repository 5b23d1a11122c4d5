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

/* Whether a peer with uid 0 is the machine's root (process/root.h). */
enum gs_peer_place {
	GS_PEER_HERE,
	GS_PEER_IN_OUR_POD, /* in another container of the daemon's own pod, as gpusched-nri is */
	GS_PEER_OUTSIDE,    /* in another container or namespace, or we cannot tell */
};

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
	/* Not GS_PEER_HERE: such a peer's @uid belongs to no user, either. */
	enum gs_peer_place place;
};

/* True if the peer had this group when it connected. No name is looked up. */
bool gs_peer_in_group(const struct gs_peer *peer, gid_t gid);
/* The asker for gs_class_may(); valid as long as @peer. */
struct gs_asker gs_peer_asker(const struct gs_peer *peer);

#endif /* GPUSCHED_HUB_PEER_H */
