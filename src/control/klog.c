// SPDX-License-Identifier: MIT
#include "control/klog.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "basic/env.h"

#define AT_ONCE 512u
#define RECORD 8192u /* the kernel's own limit of a record, with its dictionary */
#define LOOK_MS 50   /* how often a file of lines is looked at */

struct gs_klog {
	int fd;
	bool lines; /* a file of lines, of a simulated GPU */
	int to;     /* the thread's end of a pair of sockets: a message for each record */
	int from;   /* ours */
	pthread_t thread;
	atomic_uint lost; /* since the last gs_klog_read() */
	atomic_int error; /* why the thread has ended */
	size_t n;         /* bytes of a line that has not ended yet */
	char text[RECORD], record[RECORD];
};

/* ---- the thread ------------------------------------------------------------------------------ */

/* False: nobody listens any more. */
static bool hand_on(struct gs_klog *k, const char *record, size_t n)
{
	return send(k->to, record, n, MSG_NOSIGNAL) >= 0;
}

/* Hands on whole lines, and keeps the rest. A line that does not fit is dropped. */
static bool split(struct gs_klog *k)
{
	const char *at = k->text, *end = k->text + k->n, *line;
	bool heard = true;

	for (; heard && (line = memchr(at, '\n', (size_t)(end - at))); at = line + 1)
		heard = line == at || hand_on(k, at, (size_t)(line - at));
	k->n = (size_t)(end - at);
	memmove(k->text, at, k->n);
	if (k->n == sizeof(k->text)) {
		k->n = 0;
		k->lost++;
	}
	return heard;
}

/* Waits for a record. False: nobody listens any more. */
static bool await(const struct gs_klog *k)
{
	struct pollfd p[] = { { .fd = k->to }, { .fd = k->lines ? -1 : k->fd, .events = POLLIN } };

	return poll(p, 2, k->lines ? LOOK_MS : -1) >= 0 ? !p[0].revents : errno == EINTR;
}

/* 0: nobody listens any more. */
static int follow_log(struct gs_klog *k)
{
	for (;;) {
		ssize_t n = read(k->fd, k->text + k->n, sizeof(k->text) - k->n);

		if (!n || (n < 0 && errno == EAGAIN)) {
			if (!await(k))
				return 0;
		} else if (n < 0 && (errno == EPIPE || errno == EINVAL)) {
			k->lost++; /* overwritten, or longer than we read */
		} else if (n < 0 && errno != EINTR) {
			return -errno;
		} else if (n > 0 && k->lines) {
			k->n += (size_t)n;
			if (!split(k))
				return 0;
		} else if (n > 0 && !hand_on(k, k->text, (size_t)n)) {
			return 0;
		}
	}
}

static void *run(void *arg)
{
	struct gs_klog *k = arg;

	k->error = follow_log(k);
	shutdown(k->to, SHUT_RDWR);
	return NULL;
}

static int begin_thread(struct gs_klog *k)
{
	sigset_t all, before;
	int r;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	r = -pthread_create(&k->thread, NULL, run, k);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return r;
}

/* ---- the loop -------------------------------------------------------------------------------- */

static int open_all(struct gs_klog *k)
{
	const struct gs_env *env = gs_env();
	char path[256] = "/dev/kmsg";
	int ends[2];

	if (env->sim)
		snprintf(path, sizeof(path), "%s/kmsg", env->sim_dir);
	k->fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY);
	if (k->fd < 0 || lseek(k->fd, 0, SEEK_END) < 0)
		return -errno;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return -errno;
	k->to = ends[0];
	k->from = ends[1];
	return begin_thread(k);
}

static void free_klog(struct gs_klog *k)
{
	for (int i = 0; i < 3; i++) {
		int fd = i == 0 ? k->fd : i == 1 ? k->to : k->from;

		if (fd >= 0)
			close(fd);
	}
	free(k);
}

int gs_klog_open(struct gs_klog **ret)
{
	struct gs_klog *k = calloc(1, sizeof(*k));
	int r;

	if (!k)
		return -ENOMEM;
	*k = (struct gs_klog){ .fd = -1, .to = -1, .from = -1, .lines = gs_env()->sim };
	r = open_all(k);
	if (r)
		free_klog(k);
	else
		*ret = k;
	return r;
}

/* Users' watches of the log can keep the thread from its end. Then it is left behind. */
void gs_klog_close(struct gs_klog *k)
{
	struct timespec until;

	if (!k)
		return;
	shutdown(k->from, SHUT_RDWR);
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec++;
	if (!pthread_clockjoin_np(k->thread, NULL, CLOCK_MONOTONIC, &until))
		free_klog(k);
}

int gs_klog_read(struct gs_klog *k, void (*fn)(const char *record, size_t n, void *user),
		 void *user, uint64_t *inout_lost)
{
	ssize_t n = -1;

	for (unsigned int i = 0; i < AT_ONCE; i++) {
		n = recv(k->from, k->record, sizeof(k->record), MSG_DONTWAIT);
		if (n <= 0)
			break;
		fn(k->record, (size_t)n, user);
	}
	*inout_lost += atomic_exchange(&k->lost, 0);
	return n ? 0 : k->error ? k->error : -EPIPE;
}
