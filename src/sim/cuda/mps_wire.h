/* SPDX-License-Identifier: MIT */
/*
 * mps_wire.h - defines messages between the stand-ins for MPS: control daemon, server, client
 *
 * They use unix sockets in the pipe directory: "control" is the daemon's, "server" the server's.
 */
#ifndef GPUSCHED_SIM_MPS_WIRE_H
#define GPUSCHED_SIM_MPS_WIRE_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define MPS_DEFAULT_DIR "/tmp/nvidia-mps"
#define MPS_CHANNELS 8u
#define MPS_DEVICES 16u

enum mps_op {
	MPS_TEXT, /* a command of the control program, or the answer */
	/* from a client, with its ring's memfd; the answer has the devices and the server's file */
	MPS_HELLO,
	MPS_CONTEXT, /* asks for channels on device[0]; the answer has @n channels */
	MPS_FREE,    /* gives these channels back */
	MPS_BAD,     /* a kernel of the client made an invalid access */
};

struct mps_message {
	uint32_t op;
	int32_t pid;
	uint32_t client; /* handle of the server's RM client */
	uint32_t n;
	uint32_t channel[MPS_CHANNELS];
	uint8_t device[MPS_DEVICES][16]; /* UUIDs */
	char text[1024];
};

/*
 * Makes a socket. @serve: it listens as NAME in the pipe directory; otherwise it is connected to
 * NAME. -1: failed.
 */
static inline int mps_socket(const char *dir, const char *name, int serve)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	if (fd < 0 || snprintf(at.sun_path, sizeof(at.sun_path), "%s/%s", dir, name) >=
			      (int)sizeof(at.sun_path))
		return -1;
	if (serve)
		unlink(at.sun_path);
	if (serve ? !bind(fd, (struct sockaddr *)&at, sizeof(at)) && !listen(fd, 64)
		  : !connect(fd, (struct sockaddr *)&at, sizeof(at)))
		return fd;
	close(fd);
	return -1;
}

/* Sends a message, with descriptor @fd; @fd -1: without a descriptor. 0 or -1. */
static inline int mps_send(int sock, const struct mps_message *m, int fd)
{
	char control[CMSG_SPACE(sizeof(int))] = { 0 };
	struct iovec io = { (void *)m, sizeof(*m) };
	struct msghdr h = { .msg_iov = &io, .msg_iovlen = 1 };
	struct cmsghdr *c;

	if (fd >= 0) {
		h.msg_control = control;
		h.msg_controllen = sizeof(control);
		c = CMSG_FIRSTHDR(&h);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	}
	return sendmsg(sock, &h, MSG_NOSIGNAL) == (ssize_t)sizeof(*m) ? 0 : -1;
}

/*
 * Receives a message. 0; -1: the other side has closed. *ret_fd: the descriptor that came, or -1.
 */
static inline int mps_receive(int sock, struct mps_message *m, int *ret_fd)
{
	char control[CMSG_SPACE(sizeof(int))];
	struct iovec io = { m, sizeof(*m) };
	struct msghdr h = { .msg_iov = &io,
			    .msg_iovlen = 1,
			    .msg_control = control,
			    .msg_controllen = sizeof(control) };
	ssize_t n = recvmsg(sock, &h, MSG_CMSG_CLOEXEC);
	struct cmsghdr *c = n > 0 ? CMSG_FIRSTHDR(&h) : NULL;
	int fd = -1;

	if (c && c->cmsg_type == SCM_RIGHTS)
		memcpy(&fd, CMSG_DATA(c), sizeof(fd));
	if (ret_fd)
		*ret_fd = fd;
	else if (fd >= 0)
		close(fd);
	m->text[sizeof(m->text) - 1] = '\0';
	return n == (ssize_t)sizeof(*m) ? 0 : -1;
}

#endif /* GPUSCHED_SIM_MPS_WIRE_H */
