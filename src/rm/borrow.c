// SPDX-License-Identifier: MIT
/*
 * borrow.c - a copy of somebody else's nvidiactl descriptor, for the time of one call
 *
 * A stranger's file must neither be called nor make us wait: it is looked at through /proc without
 * asking its file system before it is copied, again after, and a copy that turns out wrong is
 * closed by a thread of its own (closing a FUSE file waits for its server).
 */
#include "rm/rm.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/env.h"
#include "process/process.h"
#include "rm/abi.h"
#include "rm/sys.h"

#define PIDFD_OF_THREAD O_EXCL /* PIDFD_THREAD, since Linux 6.9 */

/* ---- which files are the driver's ------------------------------------------------------------ */

static bool is_control(const char *path)
{
	const char *name = strrchr(path, '/');

	name = name ? name + 1 : path + strspn(path, " ");
	return !strncmp(name, "nvidiactl", 9) && (!name[9] || name[9] == '\n');
}

/* A line of DIR/simfiles: device (kernel's or stat's encoding), inode, path. */
static bool registered(uint32_t major_, uint32_t minor_, uint64_t ino)
{
	char path[256], line[512];
	uint64_t kernel_dev = (uint64_t)major_ << 20 | minor_;
	uint64_t stat_dev = makedev(major_, minor_);
	CLEANUP_FILE FILE *f = NULL;

	snprintf(path, sizeof(path), "%s/simfiles", gs_env()->sim_dir);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		char *end;
		uint64_t dev = strtoull(line, &end, 0), in;

		if (end == line)
			continue;
		in = strtoull(end, &end, 0);
		if (in == ino && (dev == kernel_dev || dev == stat_dev) && is_control(end))
			return true;
	}
	return false;
}

bool gs_rm_sys_accept(const struct statx *st)
{
	if (gs_env()->sim)
		return registered(st->stx_dev_major, st->stx_dev_minor, st->stx_ino);
	return S_ISCHR(st->stx_mode) && st->stx_rdev_major == NV_MAJOR &&
	       st->stx_rdev_minor == NV_CTL_MINOR;
}

static bool accepted(int dirfd, const char *path, int flags)
{
	struct statx st;

	return !statx(dirfd, path, flags | AT_STATX_DONT_SYNC, STATX_BASIC_STATS, &st) &&
	       gs_rm_sys.accept(&st);
}

static bool looks_right(pid_t pid, int number)
{
	char path[48];

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)pid, number);
	return accepted(AT_FDCWD, path, 0);
}

/* ---- copying --------------------------------------------------------------------------------- */

static void *close_stranger(void *arg)
{
	close((int)(intptr_t)arg);
	return NULL;
}

static void drop_stranger(int fd)
{
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	if (pthread_create(&thread, &attr, close_stranger, (void *)(intptr_t)fd))
		close(fd);
	pthread_attr_destroy(&attr);
}

static int copy_fd(struct gs_borrowing *b, int number, int *ret)
{
	int fd;

	if (number < 0 || !looks_right(b->pid, number))
		return -EBADF;
	fd = (int)syscall(SYS_pidfd_getfd, b->pidfd, number, 0);
	if (fd < 0)
		return -errno;
	if (!accepted(fd, "", AT_EMPTY_PATH)) {
		drop_stranger(fd);
		return -EBADF;
	}
	*ret = fd;
	return 0;
}

static int list_fds(struct gs_borrowing *b)
{
	char path[32];
	struct dirent *e;
	CLEANUP_DIR DIR *dir = NULL;

	b->listed = true;
	snprintf(path, sizeof(path), "/proc/%d/fd", (int)b->pid);
	dir = opendir(path);
	if (!dir)
		return errno == ENOENT ? -ESRCH : -errno;
	while ((e = readdir(dir))) {
		int number = atoi(e->d_name), *more;

		if (e->d_name[0] == '.' || number == b->hint || !looks_right(b->pid, number))
			continue;
		more = realloc(b->fds, (b->n + 1) * sizeof(*more));
		if (!more)
			return -ENOMEM;
		b->fds = more;
		b->fds[b->n++] = number;
	}
	return 0;
}

/* A main thread that has ended has no descriptors any more; the process's others share them. */
static int use_living_thread(struct gs_borrowing *b)
{
	char path[32], state;
	uint64_t start;
	struct dirent *e;
	CLEANUP_DIR DIR *dir = NULL;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)b->pid);
	dir = opendir(path);
	while (dir && (e = readdir(dir))) {
		pid_t tid = atoi(e->d_name);
		int fd;

		if (tid <= 0 || tid == b->pid || !gs_proc_stat(tid, &state, &start) || state == 'Z')
			continue;
		fd = (int)syscall(SYS_pidfd_open, tid, PIDFD_OF_THREAD);
		if (fd < 0)
			return -errno;
		close(b->pidfd);
		b->pidfd = fd;
		b->pid = tid;
		return 0;
	}
	return -ESRCH;
}

int gs_borrowing_begin(struct gs_borrowing *b, pid_t pid, uint64_t start_ns, int hint)
{
	uint64_t start;
	char state;
	int r = 0;

	*b = (struct gs_borrowing){ .pidfd = -1, .pid = pid, .hint = hint };
	if (pid <= 0)
		return -ESRCH;
	b->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (b->pidfd < 0)
		return errno == EINVAL ? -ESRCH : -errno;
	/* Read after the pidfd is open: the same start means the pidfd is of the owner. */
	if (!gs_proc_stat(pid, &state, &start) || (start_ns && !gs_start_same(start, start_ns)))
		r = -ESRCH;
	else if (state == 'Z')
		r = use_living_thread(b);
	if (r < 0)
		gs_borrowing_end(b);
	return r;
}

int gs_borrowing_next(struct gs_borrowing *b, int *ret_fd, int *ret_number)
{
	int r = -EBADF;

	if (!b->hint_done) {
		b->hint_done = true;
		*ret_number = b->hint;
		r = copy_fd(b, b->hint, ret_fd);
		if (r != -EBADF)
			return r;
	}
	if (!b->listed) {
		r = list_fds(b);
		if (r < 0)
			return r;
	}
	while (b->next < b->n) {
		*ret_number = b->fds[b->next++];
		r = copy_fd(b, *ret_number, ret_fd);
		if (r != -EBADF)
			return r;
	}
	return -EBADF;
}

void gs_borrowing_end(struct gs_borrowing *b)
{
	if (b->pidfd >= 0)
		close(b->pidfd);
	b->pidfd = -1;
	free(b->fds);
	b->fds = NULL;
}
