// SPDX-License-Identifier: MIT
/* peers.c - attacks the daemon through what it shares with a user: sockets, and an agent's page */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "basic/clock.h"
#include "helper.h"

static const char ping[] = "POST /v1/ping HTTP/1.1\r\nHost: g\r\nContent-Length: 2\r\n\r\n{}";

static int connect_to(const char *path, int type)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, type, 0);

	snprintf(sun.sun_path, sizeof(sun.sun_path), "%s", path);
	return fd < 0 || connect(fd, (struct sockaddr *)&sun, sizeof(sun)) ? -1 : fd;
}

/* The descriptor of a page's that wakes the daemon; -1: none came. */
static int get_waker(const char *path)
{
	char room[CMSG_SPACE(2 * sizeof(int))];
	uint32_t word;
	struct iovec iov = { &word, sizeof(word) };
	struct msghdr msg = { .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = room,
			      .msg_controllen = sizeof(room) };
	int fd = connect_to(path, SOCK_SEQPACKET), got[2];

	if (fd < 0 || recvmsg(fd, &msg, 0) < 0 || !CMSG_FIRSTHDR(&msg))
		return -1;
	memcpy(got, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof(got));
	return got[1];
}

/*
 * Takes O_NONBLOCK from the descriptor that wakes the daemon, then writes to it, and reads it empty
 * before the daemon does.
 */
int verb_unblock(int n, char **words)
{
	uint64_t until = gs_now_ns() + (uint64_t)atoi(words[1]) * NS_PER_MS, one = 1, got;
	int fd = get_waker(words[0]);
	struct pollfd p = { .fd = fd, .events = POLLIN };

	if (fd < 0 || fcntl(fd, F_SETFL, O_RDWR))
		return 1;
	puts("ready");
	fflush(stdout);
	for (unsigned int i = 0; gs_now_ns() < until; i++) {
		uint64_t at = gs_now_ns() + i * 1500 % 90000;

		if (write(fd, &one, sizeof(one)) != sizeof(one))
			return 1;
		while (gs_now_ns() < at)
			;
		if (poll(&p, 1, 0) > 0 && read(fd, &got, sizeof(got)) < 0)
			return 1;
		usleep(3000);
	}
	return 0;
}

/* Puts @fd into @n epoll sets, and says how often that worked. */
static long enter(int fd, const int *sets, int n)
{
	struct epoll_event ev = { .events = EPOLLIN | EPOLLOUT | EPOLLRDHUP };
	long done = 0;

	while (done < n && !epoll_ctl(sets[done], EPOLL_CTL_ADD, fd, &ev))
		done++;
	return done;
}

static void ask(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	char answer[4096];

	if (write(fd, ping, sizeof(ping) - 1) < 0 || poll(&p, 1, 8000) <= 0)
		return;
	if (read(fd, answer, sizeof(answer)) < 0)
		return;
}

/* Puts @fd into DUPS * SETS epoll sets, and calls @between now and then. */
static bool fill(int fd, int dups, int nsets, void (*between)(int fd))
{
	int *sets = calloc((size_t)nsets, sizeof(*sets));
	struct rlimit l;
	long items = 0;

	if (fd < 0 || !sets || getrlimit(RLIMIT_NOFILE, &l))
		return false;
	l.rlim_cur = l.rlim_max;
	setrlimit(RLIMIT_NOFILE, &l);
	for (int i = 0; i < nsets; i++)
		sets[i] = epoll_create1(0);
	for (int i = 0; i < dups; i++) {
		if (i % 100 == 0 && between)
			between(fd);
		items += enter(dup(fd), sets, nsets);
	}
	printf("ready %ld\n", items);
	fflush(stdout);
	return true;
}

/* Watches files with a descriptor that stands in DUPS * SETS epoll sets. */
int verb_watches(int n, char **words)
{
	int fd = inotify_init1(IN_NONBLOCK);
	struct pollfd p = { .fd = fd, .events = POLLIN };
	char events[65536];

	for (int i = 2; i < n; i++)
		if (inotify_add_watch(fd, words[i], IN_ALL_EVENTS) < 0)
			printf("not watched: %s: %s\n", words[i], strerror(errno));
	if (!fill(fd, atoi(words[0]), atoi(words[1]), NULL))
		return 1;
	while (poll(&p, 1, -1) >= 0)
		if (read(fd, events, sizeof(events)) > 0)
			usleep(1000);
	return 0;
}

/* Asks over a connection whose own end stands in DUPS * SETS epoll sets. */
int verb_entries(int n, char **words)
{
	int fd = connect_to(words[0], SOCK_STREAM);

	/* the daemon ends a silent connection */
	if (fd < 0 || !fill(fd, atoi(words[1]), atoi(words[2]), ask))
		return 1;
	for (;;)
		ask(fd);
}
