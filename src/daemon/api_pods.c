// SPDX-License-Identifier: MIT
/*
 * api_pods.c - identifies peers that are pods or containers
 *
 * A pod mounts only the folder of the pods' socket. Its processes may have any uid, even root's,
 * which means nothing on this machine. So such a peer counts as its pod, and never as a user. At
 * the daemon's own socket, root of a container counts as nobody.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "basic/cleanup.h"
#include "daemon/api_priv.h"
#include "process/inside.h"
#include "process/root.h"

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

static void be_nobody(struct gs_peer *peer, uid_t number)
{
	peer->uid = number;
	peer->gid = (gid_t)-1;
}

void api_pod_set(struct gs_peer *peer, const struct api_uid *as)
{
	if (!*as->pod && as->place == GS_PEER_HERE)
		return;
	memcpy(peer->pod, as->pod, sizeof(peer->pod));
	peer->place = as->place;
	be_nobody(peer, as->uid);
}

int api_pod_of_fd(int fd, struct gs_peer *ret)
{
	char pod[GS_CONTAINER_LEN];

	if (api_peer_of_fd(fd, ret) || !gs_inside_of(ret->pid, pod) || !is_still(fd))
		return -EPERM;
	memcpy(ret->pod, pod, sizeof(ret->pod));
	be_nobody(ret, number_of(pod));
	return 0;
}

/* ---- root at the daemon's own socket --------------------------------------------------------- */

static enum gs_peer_place place_of(pid_t pid)
{
	if (gs_root_of(pid, 0) == GS_ROOT_MACHINES)
		return GS_PEER_HERE;
	return gs_root_in_our_pod(pid) ? GS_PEER_IN_OUR_POD : GS_PEER_OUTSIDE;
}

int api_user_of_fd(int fd, struct gs_peer *ret)
{
	char inside[GS_CONTAINER_LEN] = "";
	int r = api_peer_of_fd(fd, ret);

	if (r || ret->uid)
		return r;
	ret->place = place_of(ret->pid);
	if (!is_still(fd))
		ret->place = GS_PEER_OUTSIDE;
	if (ret->place == GS_PEER_HERE)
		return 0;
	gs_inside_of(ret->pid, inside);
	be_nobody(ret, number_of(inside));
	return 0;
}
