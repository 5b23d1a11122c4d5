/* SPDX-License-Identifier: MIT */
/*
 * fuse_fds.c - copies descriptors that a caller names: its memfds and its doorbell
 *
 * A descriptor must be copied before its file can be checked. The copy may refer to one of our own
 * files, or to a file of another FUSE file system. Another thread closes such a copy. The close
 * asks the file's server first, which is this thread or may never answer.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "sim/fuse_priv.h"
#include "sim/memfd.h"

#define MAX_CLOSING 64

static atomic_int closing;

static void *close_it(void *arg)
{
	close((int)(intptr_t)arg);
	atomic_fetch_sub(&closing, 1);
	return NULL;
}

/*
 * Closes a file in another thread. If no thread can be started, the file stays open: a leak is
 * better than a simulator that hangs.
 */
static void close_elsewhere(int fd)
{
	pthread_attr_t attr;
	pthread_t thread;

	atomic_fetch_add(&closing, 1);
	if (pthread_attr_init(&attr))
		return;
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attr, PTHREAD_STACK_MIN);
	if (pthread_create(&thread, &attr, close_it, (void *)(intptr_t)fd))
		atomic_fetch_sub(&closing, 1);
	pthread_attr_destroy(&attr);
}

static bool is_eventfd(int fd)
{
	char path[64], link[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	n = readlink(path, link, sizeof(link) - 1);
	if (n < 0)
		return false;
	link[n] = 0;
	return !strcmp(link, "anon_inode:[eventfd]");
}

static bool is_memfd(int fd)
{
	return fcntl(fd, F_GET_SEALS) >= 0; /* this does not call the file system of the file */
}

/* Copies the caller's descriptor @number if @is_wanted holds for it. */
static int copy_fd(const struct sim_caller *c, int number, bool (*is_wanted)(int fd))
{
	CLEANUP_FD int pidfd = -1;
	int fd;

	if (closing >= MAX_CLOSING)
		return -EBUSY;
	pidfd = (int)syscall(SYS_pidfd_open, c->tgid, 0);
	if (pidfd < 0)
		return -errno;
	fd = (int)syscall(SYS_pidfd_getfd, pidfd, number, 0);
	if (fd < 0)
		return -errno;
	if (is_wanted(fd))
		return fd;
	close_elsewhere(fd);
	return -ENOTSUP;
}

int sim_fuse_caller_eventfd(const struct sim_caller *c, int number)
{
	return copy_fd(c, number, is_eventfd);
}

int sim_fuse_caller_memfd(const struct sim_caller *c, int number)
{
	return copy_fd(c, number, is_memfd);
}

int sim_fuse_caller_map(const struct sim_caller *c, int number, size_t size, void **ret)
{
	CLEANUP_FD int fd = sim_fuse_caller_memfd(c, number);

	return fd < 0 ? fd : sim_memfd_map(fd, size, ret);
}
