// SPDX-License-Identifier: MIT
/*
 * ask.c - sends the same request to the API on many connections
 *
 *   helper ask SOCKET CONNECTIONS VERB BODY
 *
 * Each connection repeats the request as soon as it has its answer. At SIGTERM the helper prints
 * the number of answers.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "helper.h"

#define MOST 256

/* The answer that a connection is receiving. */
struct connection {
	char head[512]; /* the HTTP head, as far as received */
	size_t have;    /* bytes in @head */
	long long rest; /* bytes of the body still to come; -1: the head is incomplete */
};

static volatile sig_atomic_t stop;
static char request[8192];
static struct sockaddr_un server = { .sun_family = AF_UNIX };
static struct connection connections[MOST];
static unsigned long answers;

static void on_signal(int sig)
{
	(void)sig;
	stop = 1;
}

static void ask(struct pollfd *p, struct connection *c)
{
	*c = (struct connection){ .rest = -1 };
	if (send(p->fd, request, strlen(request), MSG_NOSIGNAL) < 0) {
		close(p->fd);
		p->fd = -1;
	}
}

static void begin(struct pollfd *p, struct connection *c)
{
	p->events = POLLIN;
	p->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (p->fd < 0 || connect(p->fd, (struct sockaddr *)&server, sizeof(server))) {
		if (p->fd >= 0)
			close(p->fd);
		p->fd = -1;
		return;
	}
	ask(p, c);
}

/* Once the head is complete, sets @rest to the part of the body that did not come with it. */
static void take_head(struct connection *c)
{
	char *end = strstr(c->head, "\r\n\r\n"), *length;

	if (!end)
		return;
	length = strcasestr(c->head, "content-length:");
	c->rest = length ? strtoll(length + strlen("content-length:"), NULL, 10) : 0;
	c->rest -= (long long)(c->have - (size_t)(end + 4 - c->head));
}

static void take(struct pollfd *p, struct connection *c)
{
	static char rest[1 << 16];
	ssize_t n;

	if (c->rest < 0) {
		n = recv(p->fd, c->head + c->have, sizeof(c->head) - 1 - c->have, MSG_DONTWAIT);
		if (n > 0) {
			c->have += (size_t)n;
			take_head(c);
		}
	} else {
		n = recv(p->fd, rest, sizeof(rest), MSG_DONTWAIT);
		if (n > 0)
			c->rest -= n;
	}
	if (n <= 0 && errno != EAGAIN) {
		close(p->fd);
		begin(p, c);
	} else if (c->rest == 0) {
		answers++;
		ask(p, c);
	}
}

int verb_ask(int nwords, char **words)
{
	struct sigaction on_term = { .sa_handler = on_signal };
	uint32_t n = number(nwords, words, 1);
	struct pollfd polled[MOST];

	if (n > MOST)
		return 2;
	sigaction(SIGTERM, &on_term, NULL);
	snprintf(server.sun_path, sizeof(server.sun_path), "%s", words[0]);
	snprintf(request, sizeof(request),
		 "POST /v1/%s HTTP/1.1\r\nHost: gpusched\r\nContent-Length: %zu\r\n\r\n%s",
		 words[2], strlen(words[3]), words[3]);
	for (uint32_t i = 0; i < n; i++)
		begin(&polled[i], &connections[i]);
	while (!stop) {
		poll(polled, n, 100);
		for (uint32_t i = 0; i < n; i++) {
			if (polled[i].fd < 0)
				begin(&polled[i], &connections[i]);
			else if (polled[i].revents)
				take(&polled[i], &connections[i]);
		}
	}
	printf("%lu\n", answers);
	return 0;
}
