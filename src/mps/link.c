// SPDX-License-Identifier: MIT
#include "mps/link.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "basic/cleanup.h"

static int make_socket(const struct gs_mps_place *p, struct sockaddr_un *at)
{
	*at = (struct sockaddr_un){ .sun_family = AF_UNIX };
	snprintf(at->sun_path, sizeof(at->sun_path), "%s/api", p->dir);
	return socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
}

static bool is_ours(int fd)
{
	struct ucred cred;
	socklen_t len = sizeof(cred);

	return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) && cred.uid == geteuid();
}

int gs_mps_link_connect(const struct gs_mps_place *p)
{
	struct sockaddr_un at;
	CLEANUP_FD int fd = make_socket(p, &at);

	if (fd < 0 || connect(fd, (struct sockaddr *)&at, sizeof(at)) || !is_ours(fd))
		return -1;
	return TAKE_FD(fd);
}

int gs_mps_link_serve(const struct gs_mps_place *p)
{
	struct sockaddr_un at;
	CLEANUP_FD int fd = make_socket(p, &at);

	unlink(at.sun_path);
	if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof(at)) || listen(fd, 64))
		return -1;
	return TAKE_FD(fd);
}

int gs_mps_link_accept(int sock)
{
	CLEANUP_FD int fd = accept4(sock, NULL, NULL, SOCK_CLOEXEC);

	return fd >= 0 && is_ours(fd) ? TAKE_FD(fd) : -1;
}

int gs_mps_link_send(int sock, const struct gs_mps_message *m)
{
	return send(sock, m, sizeof(*m), MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)sizeof(*m)
		       ? 0
		       : -EPIPE;
}

int gs_mps_link_receive(int sock, struct gs_mps_message *m, int ms)
{
	struct pollfd p = { .fd = sock, .events = POLLIN };
	int r = poll(&p, 1, ms);

	if (r <= 0)
		return r ? -EPIPE : -ETIMEDOUT;
	if (recv(sock, m, sizeof(*m), MSG_DONTWAIT) != (ssize_t)sizeof(*m))
		return -EPIPE;
	m->word[sizeof(m->word) - 1] = m->text[sizeof(m->text) - 1] = '\0';
	return 0;
}
