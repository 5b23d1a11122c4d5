// SPDX-License-Identifier: MIT
/* sheet.c - gets the memory that an agent shares with the daemon */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "basic/cleanup.h"
#include "basic/env.h"
#include "wire/agent.h"

#define ANSWER_MS 1000

int gs_agent_sheet_path(char *ret, size_t size)
{
	int n = snprintf(ret, size, "%s/agents", gs_env()->run_dir);

	return n < 0 || (size_t)n >= size ? -ENAMETOOLONG : 0;
}

static int connect_daemon(void)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	CLEANUP_FD int fd = -1;
	struct ucred cred = { 0 };
	socklen_t len = sizeof(cred);
	int r = gs_agent_sheet_path(sun.sun_path, sizeof(sun.sun_path));

	if (r)
		return r;
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 || connect(fd, (struct sockaddr *)&sun, sizeof(sun)))
		return -errno;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) || cred.uid)
		return -EPERM;
	return TAKE_FD(fd);
}

/*
 * Receives the daemon's one message, with two descriptors: returns the sheet, stores the wake-up.
 */
static int receive(int fd, int *ret_wake)
{
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE(2 * sizeof(int))];
	} control;
	uint32_t word;
	struct iovec iov = { &word, sizeof(word) };
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control.room,
		.msg_controllen = sizeof(control.room),
	};
	struct pollfd p = { .fd = fd, .events = POLLIN };
	struct cmsghdr *c;
	int got[2];

	if (poll(&p, 1, ANSWER_MS) != 1)
		return -ETIMEDOUT;
	if (recvmsg(fd, &msg, MSG_CMSG_CLOEXEC) != sizeof(word))
		return -EPROTO;
	c = CMSG_FIRSTHDR(&msg);
	if (!c || c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS ||
	    c->cmsg_len != CMSG_LEN(sizeof(got)))
		return -EPROTO;
	memcpy(got, CMSG_DATA(c), sizeof(got));
	*ret_wake = got[1];
	return got[0];
}

int gs_agent_sheet_get(struct gs_agent_sheet **ret, int *ret_wake)
{
	CLEANUP_FD int daemon = connect_daemon();
	CLEANUP_FD int wake = -1;
	CLEANUP_FD int fd = daemon < 0 ? daemon : receive(daemon, &wake);
	struct gs_agent_sheet *sheet;
	struct stat st;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st) || st.st_size != GS_AGENT_SHEET_BYTES ||
	    (fcntl(fd, F_GET_SEALS) & GS_AGENT_SHEET_SEALS) != GS_AGENT_SHEET_SEALS)
		return -EPERM;
	sheet = mmap(NULL, GS_AGENT_SHEET_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (sheet == MAP_FAILED)
		return -errno;
	madvise(sheet, GS_AGENT_SHEET_BYTES, MADV_DONTFORK);
	if (sheet->magic != GS_AGENT_SHEET_MAGIC || sheet->size != sizeof(*sheet)) {
		munmap(sheet, GS_AGENT_SHEET_BYTES);
		return -EPROTO;
	}
	*ret = sheet;
	*ret_wake = TAKE_FD(wake);
	return 0;
}
