// SPDX-License-Identifier: MIT
/*
 * way.c - makes calls through the agent in the TSG's own program
 *
 * For users who have no daemon and are not allowed to borrow descriptors (ptrace_scope). Daemon,
 * restore and guardian do not use it, since an agent may refuse to do what it should. So
 * gs_way_of() does not return it.
 */
#include "wire/agent.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "basic/cleanup.h"

#define ANSWER_MS 5000

const char *gs_agent_way_dir(char *buf, size_t size)
{
	const char *run = getenv("XDG_RUNTIME_DIR");

	if (run && *run == '/')
		snprintf(buf, size, "%s/gpusched", run);
	else
		snprintf(buf, size, "/tmp/gpusched-%u", (unsigned int)geteuid());
	return buf;
}

int gs_agent_way_dir_check(const char *dir, int make)
{
	struct stat st;

	if (make && mkdir(dir, 0700) && errno != EEXIST)
		return -errno;
	if (lstat(dir, &st))
		return -errno;
	if (!S_ISDIR(st.st_mode) || st.st_uid != geteuid() || st.st_mode & 077)
		return -EPERM;
	return 0;
}

/* Checks that this user's process listens on the socket. */
static int check_peer(int fd)
{
	struct ucred cred = { 0 };
	socklen_t len = sizeof(cred);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len))
		return -errno;
	return cred.uid == geteuid() ? 0 : -EPERM;
}

int gs_agent_way_connect(pid_t pid)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	CLEANUP_FD int fd = -1;
	char dir[80];
	int r;

	r = gs_agent_way_dir_check(gs_agent_way_dir(dir, sizeof(dir)), 0);
	if (r)
		return r;
	snprintf(sun.sun_path, sizeof(sun.sun_path), "%s/agent-%d", dir, (int)pid);
	/* non-blocking, since the agent may be stopped */
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 || connect(fd, (struct sockaddr *)&sun, sizeof(sun)))
		return -errno;
	r = check_peer(fd);
	return r ? r : TAKE_FD(fd);
}

static int receive(int fd, struct gs_agent_answer *answer, size_t size, int *ret_fd)
{
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec iov = { answer, size };
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control.room,
		.msg_controllen = sizeof(control.room),
	};
	ssize_t n = recvmsg(fd, &msg, MSG_CMSG_CLOEXEC);
	CLEANUP_FD int got = -1;
	struct cmsghdr *c;

	if (n < 0)
		return -errno;
	c = CMSG_FIRSTHDR(&msg);
	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
		memcpy(&got, CMSG_DATA(c), sizeof(got));
	if ((size_t)n < sizeof(*answer) || msg.msg_flags & MSG_TRUNC ||
	    answer->magic != GS_AGENT_MAGIC || answer->err > 0 || answer->n > GS_AGENT_TSGS ||
	    (size_t)n != sizeof(*answer) + answer->n * sizeof(answer->tsgs[0]))
		return -EPROTO;
	if (ret_fd)
		*ret_fd = TAKE_FD(got);
	return answer->err;
}

int gs_agent_way_ask(int fd, const struct gs_agent_request *rq, struct gs_agent_answer *answer,
		     size_t size, int *ret_fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	struct gs_agent_request said = *rq;
	int r;

	if (ret_fd)
		*ret_fd = -1;
	said.magic = GS_AGENT_MAGIC;
	if (send(fd, &said, sizeof(said), MSG_NOSIGNAL) != sizeof(said))
		return errno == EPIPE || errno == ECONNRESET ? -ESRCH : -errno;
	do {
		r = poll(&p, 1, ANSWER_MS);
	} while (r < 0 && errno == EINTR);
	if (!r)
		return -ETIMEDOUT;
	return receive(fd, answer, size, ret_fd);
}

static bool reaches(const struct gs_rm_tsg *tsg)
{
	int fd = gs_agent_way_connect(tsg->pid);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static int take(const struct gs_rm_tsg *tsg, struct gs_rm_step *steps, size_t n)
{
	CLEANUP_FD int fd = gs_agent_way_connect(tsg->pid);
	int r = fd < 0 ? fd : 0;

	for (size_t i = 0; i < n; i++)
		steps[i].res = (struct gs_rm_result){ .err = -ECANCELED, .fd = tsg->fd };
	if (n && r)
		steps[0].res.err = r;
	for (size_t i = 0; i < n && !r; i++) {
		const struct gs_agent_request rq = {
			.ask = GS_AGENT_CALL,
			.client = tsg->client,
			.tsg = tsg->tsg,
			.op = steps[i].op,
			.arg = steps[i].arg,
			.clear = steps[i].clear,
		};
		struct gs_agent_answer a = { 0 };

		r = gs_agent_way_ask(fd, &rq, &a, sizeof(a), NULL);
		steps[i].res.err = r;
		steps[i].res.status = a.status;
		steps[i].res.value = a.value;
		steps[i].res.calls = a.calls;
		steps[i].res.ns = a.ns;
	}
	return r;
}

const struct gs_way gs_way_agent = { .name = "agent", .reaches = reaches, .take = take };
