// SPDX-License-Identifier: MIT
#include "control/waker.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "basic/cleanup.h"

#define READ_AT 64u      /* wake-ups until they are read; the socket has room for some 270 */
#define READ_BYTES 4096u /* more than a program can have written */

struct gs_waker {
	struct gs_lane *lane;
	struct gs_lane_job give, read, end;
	int fd;
	unsigned int woken;
	_Atomic bool reads; /* the lane has been told to read, and has not done so */
	/* for the program, until the lane has sent them */
	int peer, fds[2];
	uint32_t word;
};

static struct gs_waker *of(struct gs_lane_job *job, size_t offset)
{
	return (struct gs_waker *)((char *)job - offset);
}

/* ---- in the lane ----------------------------------------------------------------------------- */

static void send_all(struct gs_waker *w)
{
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE(sizeof(w->fds))];
	} control = { 0 };
	struct iovec iov = { &w->word, sizeof(w->word) };
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control.room,
		.msg_controllen = sizeof(control.room),
	};
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(w->fds));
	memcpy(CMSG_DATA(c), w->fds, sizeof(w->fds));
	if (sendmsg(w->peer, &msg, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		return; /* the program has gone, or reads nothing: the page ends with its process */
}

static void run_give(struct gs_lane_job *job)
{
	struct gs_waker *w = of(job, offsetof(struct gs_waker, give));

	send_all(w);
	close(w->fds[0]);
	close(w->fds[1]);
	close(w->peer);
}

static void run_read(struct gs_lane_job *job)
{
	struct gs_waker *w = of(job, offsetof(struct gs_waker, read));
	char bytes[READ_BYTES];

	w->reads = false;
	while (recv(w->fd, bytes, sizeof(bytes), MSG_DONTWAIT) == sizeof(bytes))
		;
}

static void run_end(struct gs_lane_job *job)
{
	struct gs_waker *w = of(job, offsetof(struct gs_waker, end));

	close(w->fd);
	free(w);
}

/* ---- in the loop ----------------------------------------------------------------------------- */

int gs_waker_new(struct gs_lanes *lanes, uid_t uid, int peer, uint32_t word, int fd,
		 struct gs_waker **ret)
{
	CLEANUP_FREE struct gs_waker *w = calloc(1, sizeof(*w));
	int ends[2];

	if (!w)
		return -ENOMEM;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends))
		return -errno;
	w->lane = gs_lane_get(lanes, uid);
	if (!w->lane) {
		close(ends[0]);
		close(ends[1]);
		return -EAGAIN;
	}
	w->fd = ends[0];
	w->peer = peer;
	w->fds[0] = fd;
	w->fds[1] = ends[1];
	w->word = word;
	w->give.run = run_give;
	w->read.run = run_read;
	w->end.run = run_end;
	gs_lane_do(w->lane, &w->give);
	*ret = TAKE_PTR(w);
	return 0;
}

void gs_waker_free(struct gs_waker *w)
{
	struct gs_lane *lane = w ? w->lane : NULL;

	if (!w)
		return;
	gs_lane_do(lane, &w->end);
	gs_lane_put(lane);
}

int gs_waker_fd(const struct gs_waker *w)
{
	return w->fd;
}

void gs_waker_woken(struct gs_waker *w)
{
	if (++w->woken >= READ_AT)
		gs_waker_drain(w);
}

void gs_waker_drain(struct gs_waker *w)
{
	if (!w->woken || atomic_exchange(&w->reads, true))
		return;
	w->woken = 0;
	gs_lane_do(w->lane, &w->read);
}
