// SPDX-License-Identifier: MIT
#include "ask.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

static long long now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000LL + t.tv_nsec / 1000000;
}

static int wait_for(int fd, short what, long long until)
{
	struct pollfd p = { .fd = fd, .events = what };
	long long left = until - now_ms();
	int r = left > 0 ? poll(&p, 1, (int)left) : 0;

	if (r < 0)
		return errno == EINTR ? 0 : -errno;
	return r ? 0 : -ETIMEDOUT;
}

static int connect_to(const char *path, int *ret)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	int fd;

	if (strlen(path) >= sizeof(to.sun_path))
		return -ENAMETOOLONG;
	strcpy(to.sun_path, path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	/* With a full backlog, connect() returns EAGAIN at once; polling would not help. */
	if (connect(fd, (const struct sockaddr *)&to, sizeof(to))) {
		int r = -errno;

		close(fd);
		return r;
	}
	*ret = fd;
	return 0;
}

static int send_all(int fd, const char *text, long long until)
{
	size_t len = strlen(text);

	while (len) {
		ssize_t n = send(fd, text, len, MSG_NOSIGNAL);
		int r = n < 0 && errno != EAGAIN && errno != EINTR ? -errno : 0;

		if (!r && n < 0)
			r = wait_for(fd, POLLOUT, until);
		if (r)
			return r;
		text += n > 0 ? n : 0;
		len -= n > 0 ? (size_t)n : 0;
	}
	return 0;
}

/* Receives until the peer closes the connection, or @ret is full. */
static int receive(int fd, char *ret, size_t size, long long until)
{
	size_t at = 0;

	while (at < size - 1) {
		ssize_t n = recv(fd, ret + at, size - 1 - at, 0);
		int r = n < 0 && errno != EAGAIN && errno != EINTR ? -errno : 0;

		if (!n)
			break;
		if (!r && n < 0)
			r = wait_for(fd, POLLIN, until);
		if (r)
			return r;
		at += n > 0 ? (size_t)n : 0;
	}
	ret[at] = '\0';
	return 0;
}

/*
 * Unless the status is 200, puts the text of {"error": "..."}, or the status line, into
 * why[].
 */
static int judge(const char *answer, char *why, int why_size)
{
	const char *text = strstr(answer, "\"error\":");
	int len;

	if (!strncmp(answer, "HTTP/1.1 200", 12))
		return 0;
	text = text ? text + 8 + strspn(text + 8, " \"") : answer;
	len = (int)strcspn(text, "\"\r\n");
	snprintf(why, (size_t)why_size, "%.*s", len, text);
	return -EPROTO;
}

int gs_ask(const char *socket_path, const char *verb, const char *args, int ms, char *why,
	   int why_size)
{
	long long until = now_ms() + ms;
	char request[1024], answer[2048];
	int fd = -1, r;

	why[0] = '\0';
	if (snprintf(request, sizeof(request),
		     "POST /v1/%s HTTP/1.1\r\nHost: gpusched\r\nConnection: close\r\n"
		     "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
		     verb, strlen(args), args) >= (int)sizeof(request))
		return -E2BIG;
	r = connect_to(socket_path, &fd);
	if (!r)
		r = send_all(fd, request, until);
	if (!r)
		r = receive(fd, answer, sizeof(answer), until);
	if (fd >= 0)
		close(fd);
	return r ? r : judge(answer, why, why_size);
}
