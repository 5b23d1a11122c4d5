/* SPDX-License-Identifier: MIT */
/*
 * peer.h - who asks
 */
#ifndef GPUSCHED_HUB_PEER_H
#define GPUSCHED_HUB_PEER_H

#include <sys/types.h>

/* Credentials of the peer (or of this process). */
struct gs_peer {
	uid_t uid;
	gid_t gid;
	pid_t pid;
	int fd; /* its socket, as long as it waits: which groups it is in; -1: this process */
};

#endif /* GPUSCHED_HUB_PEER_H */
