// SPDX-License-Identifier: MIT
/*
 * crowd.c - loads the API with many connections, and times the ping of another client
 *
 * helper crowd SOCKET CONNECTIONS HOW PATH [BODY]: requests PATH until SIGTERM, by POST if there is
 * a body. Prints "ready" when all are connected, "answered" at the first answer or refusal, and at
 * the end the numbers of answers and refusals. HOW is
 *   burst   all send in the same moment, every two seconds, and read the answers
 *   again   each hangs up as soon as an answer begins, and connects again
 *   unread  each sends one request and does not read
 * helper ping SOCKET TIMES: prints the median and the maximum, in ms.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "basic/clock.h"
#include "helper.h"

#define MOST 256
#define BURST_NS (2 * NS_PER_S)
#define PING_GAP_US 100000

static volatile sig_atomic_t stop;
static char request[8192];
static struct sockaddr_un server = { .sun_family = AF_UNIX };
static struct pollfd polled[MOST];
static uint32_t connections;
static unsigned long answers, refusals;

static void on_signal(int sig)
{
	(void)sig;
	stop = 1;
}

static int connected(void)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd >= 0 && !connect(fd, (struct sockaddr *)&server, sizeof(server)))
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

static void ask(struct pollfd *p)
{
	if (p->fd >= 0 && send(p->fd, request, strlen(request), MSG_NOSIGNAL) < 0) {
		close(p->fd);
		p->fd = -1;
	}
}

static void begin(struct pollfd *p, bool asks)
{
	*p = (struct pollfd){ .fd = connected(), .events = POLLIN };
	if (asks)
		ask(p);
}

static void count(const char *text)
{
	for (const char *at = text; (at = strstr(at, "HTTP/1.1 ")); at++) {
		answers += at[9] == '2';
		refusals += at[9] >= '4';
		if (answers + refusals == 1)
			say("answered");
	}
}

/* Returns false if the connection has ended. */
static bool take(struct pollfd *p)
{
	static char text[1 << 16];
	ssize_t n = recv(p->fd, text, sizeof(text) - 1, MSG_DONTWAIT);

	if (n > 0) {
		text[n] = '\0';
		count(text);
	}
	return n > 0 || (n < 0 && errno == EAGAIN);
}

static void take_all(bool again)
{
	for (uint32_t i = 0; i < connections; i++) {
		struct pollfd *p = &polled[i];
		bool ready = p->fd >= 0 && p->revents;

		if (p->fd >= 0 && !(ready && (!take(p) || again)))
			continue;
		if (p->fd >= 0)
			close(p->fd);
		begin(p, again);
	}
}

static void run(const char *how)
{
	bool again = !strcmp(how, "again"), burst = !strcmp(how, "burst");
	uint64_t next = 0;

	while (!stop) {
		for (uint32_t i = 0; burst && i < connections && gs_now_ns() >= next; i++)
			ask(&polled[i]);
		if (gs_now_ns() >= next)
			next = gs_now_ns() + BURST_NS;
		if (burst || again) {
			poll(polled, connections, 100);
			take_all(again);
		} else {
			poll(NULL, 0, 100);
		}
	}
	/* with "unread", the answers are counted only now */
	for (uint32_t i = 0; i < connections; i++)
		while (polled[i].fd >= 0 && poll(&polled[i], 1, 0) > 0 && !burst && !again) {
			if (!take(&polled[i]))
				break;
		}
}

static bool name_server(const char *path)
{
	int n = snprintf(server.sun_path, sizeof(server.sun_path), "%s", path);

	return (size_t)n < sizeof(server.sun_path);
}

static void write_request(const char *path, const char *body)
{
	if (body)
		snprintf(request, sizeof(request),
			 "POST %s HTTP/1.1\r\nHost: gpusched\r\nContent-Length: %zu\r\n\r\n%s",
			 path, strlen(body), body);
	else
		snprintf(request, sizeof(request), "GET %s HTTP/1.1\r\nHost: gpusched\r\n\r\n",
			 path);
}

int verb_crowd(int nwords, char **words)
{
	struct sigaction on_term = { .sa_handler = on_signal };

	connections = number(nwords, words, 1);
	if (connections > MOST || !name_server(words[0]))
		return 2;
	sigaction(SIGTERM, &on_term, NULL);
	write_request(words[3], nwords > 4 ? words[4] : NULL);
	for (uint32_t i = 0; i < connections; i++)
		begin(&polled[i], strcmp(words[2], "burst") != 0);
	say("ready");
	run(words[2]);
	printf("%lu %lu\n", answers, refusals);
	return 0;
}

static int by_size(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

int verb_ping(int nwords, char **words)
{
	uint32_t n = number(nwords, words, 1);
	uint64_t took[MOST];
	char text[4096];

	if (!n || n > MOST || !name_server(words[0]))
		return 2;
	write_request("/v1/ping", "{}");
	for (uint32_t i = 0; i < n; i++) {
		uint64_t from = gs_now_ns();
		struct pollfd p;

		begin(&p, true);
		if (p.fd < 0 || recv(p.fd, text, sizeof(text), 0) <= 0)
			return 1;
		close(p.fd);
		took[i] = (gs_now_ns() - from) / NS_PER_MS;
		usleep(PING_GAP_US);
	}
	qsort(took, n, sizeof(*took), by_size);
	printf("%llu %llu\n", (unsigned long long)took[n / 2], (unsigned long long)took[n - 1]);
	return 0;
}
