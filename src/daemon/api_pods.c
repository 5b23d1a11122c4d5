// SPDX-License-Identifier: MIT
/*
 * api_pods.c - identifies peers that ask through the socket for pods
 *
 * A pod mounts only the folder of that socket. Its processes may have any uid, even root's, which
 * means nothing on this machine. So such a peer counts as its pod, and never as a user.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "basic/cleanup.h"
#include "daemon/api_priv.h"
#include "process/inside.h"

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77 /* from Linux 6.5 on */
#endif

/* Quotas are kept by uid: pods get numbers that no user has. */
#define FIRST_UID 0xf0000000u
#define UIDS 0x0ffffff0u

static uid_t number_of(const char *pod)
{
	uint32_t h = 2166136261u;

	for (; *pod; pod++)
		h = (h ^ (unsigned char)*pod) * 16777619u;
	return FIRST_UID + h % UIDS;
}

/* True if the peer still lives. Otherwise its pid may belong to a process of another pod by now. */
static bool is_still(int fd)
{
	CLEANUP_FD int pidfd = -1;
	socklen_t len = sizeof(pidfd);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERPIDFD, &pidfd, &len))
		return errno == ENOPROTOOPT || errno == EINVAL;
	return poll(&(struct pollfd){ .fd = pidfd, .events = POLLIN }, 1, 0) == 0;
}

void api_pod_set(struct gs_peer *peer, const char *pod)
{
	snprintf(peer->pod, sizeof(peer->pod), "%s", pod);
	peer->uid = number_of(pod);
	peer->gid = (gid_t)-1;
}

int api_pod_of_fd(int fd, struct gs_peer *ret)
{
	char pod[GS_CONTAINER_LEN];

	if (api_peer_of_fd(fd, ret) || !gs_inside_of(ret->pid, pod) || !is_still(fd))
		return -EPERM;
	api_pod_set(ret, pod);
	return 0;
}
