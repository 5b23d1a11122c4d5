// SPDX-License-Identifier: MIT
/* lock.c - allows one daemon, or one command that acts, at a time */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "basic/env.h"
#include "engine/engine.h"
#include "engine/lock.h"
#include "engine/ops.h"

/* The table's pids are valid only in the pid namespace in which the table was made. */
static int check_pidns(struct gs_error *err)
{
	struct gs_table *o = NULL;
	struct gpusched_cfg cfg = { 0 };
	struct stat st;
	uint64_t kernel_dev;
	int r = gs_engine_ops.open(&o, NULL);

	if (r < 0) /* no table: there are no pids to mistake */
		return 0;
	r = gs_engine_ops.cfg(o, &cfg);
	gs_engine_ops.close(o);
	if (r < 0 || !cfg.pidns_ino || stat("/proc/self/ns/pid", &st))
		return 0;
	kernel_dev = (uint64_t)major(st.st_dev) << 20 | minor(st.st_dev);
	if (cfg.pidns_ino == st.st_ino &&
	    (!cfg.pidns_dev || cfg.pidns_dev == st.st_dev || cfg.pidns_dev == kernel_dev))
		return 0;
	return gs_fail(err, -EPERM,
		       "the TSG table belongs to another pid namespace: run this outside the "
		       "container");
}

static int make_run_dir(struct gs_error *err)
{
	const char *dir = gs_env()->run_dir;

	/* A folder that users can read, they can watch: each new file in it walks their watches. */
	if (mkdir(dir, 0711) && (errno != EEXIST || (chmod(dir, 0711) && !geteuid())))
		return gs_fail(err, -errno, "cannot make %s: %s", dir, strerror(errno));
	return 0;
}

/* -EWOULDBLOCK: another process has the lock. */
static int lock_file(const char *path, int *ret_fd, struct gs_error *err)
{
	/*
	 * A process that can open the file, even only to read, could hold the lock: allow only our
	 * own.
	 */
	CLEANUP_FD int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

	if (fd < 0 || fchmod(fd, 0600))
		return gs_fail(err, -errno, "cannot open %s: %s", path, strerror(errno));
	if (flock(fd, LOCK_EX | LOCK_NB))
		return errno == EWOULDBLOCK
			       ? -errno
			       : gs_fail(err, -errno, "cannot lock %s: %s", path, strerror(errno));
	*ret_fd = TAKE_FD(fd);
	return 0;
}

int gs_lock_overtake(int *ret_fd, struct gs_error *err)
{
	char path[300];
	int r = make_run_dir(err);

	if (!r)
		r = check_pidns(err);
	if (r < 0)
		return r;
	snprintf(path, sizeof(path), "%s.over", gs_env()->lock);
	r = lock_file(path, ret_fd, err);
	return r == -EWOULDBLOCK
		       ? gs_fail(err, -EBUSY,
				 "somebody else acts in place of a daemon that does not answer: "
				 "try again in a moment")
		       : r;
}

static bool is_same(int fd, const struct stat *st)
{
	struct stat other;

	return fd >= 0 && !fstat(fd, &other) && other.st_ino == st->st_ino &&
	       other.st_dev == st->st_dev;
}

int gs_lock_table(int *inout_fd, struct gs_error *err)
{
	CLEANUP_FD int fd = open(gs_env()->bpffs, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	struct stat st;

	/*
	 * No lock: there is no table yet, or others may open its folder and so could hold its lock.
	 */
	if (fd < 0 || fstat(fd, &st) || st.st_uid != geteuid() || (st.st_mode & 077))
		return 0;
	if (is_same(*inout_fd, &st))
		return 0;
	if (flock(fd, LOCK_EX | LOCK_NB))
		return gs_fail(err, errno == EWOULDBLOCK ? -EBUSY : -errno,
			       "another gpusched acts on the table in %s, though its socket is not "
			       "at %s: stop it first",
			       gs_env()->bpffs, gs_env()->socket);
	if (*inout_fd >= 0)
		close(*inout_fd);
	*inout_fd = TAKE_FD(fd);
	return 0;
}

/* Refuses with the pid that the lock's holder wrote into the file. */
static int refuse(struct gs_error *err)
{
	CLEANUP_FD int fd = open(gs_env()->lock, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	char text[24] = "";

	if (fd < 0 || pread(fd, text, sizeof(text) - 1, 0) <= 0)
		strcpy(text, "?");
	text[strcspn(text, "\n")] = '\0';
	return gs_fail(err, -EBUSY,
		       "another gpusched (pid %s) is in charge: use its socket %s, or stop it",
		       text, gs_env()->socket);
}

int gs_lock_take(int *ret_fd, struct gs_error *err)
{
	CLEANUP_FD int fd = -1, over = -1;
	char text[24];
	int r = make_run_dir(err);

	if (!r)
		r = check_pidns(err);
	if (!r)
		r = lock_file(gs_env()->lock, &fd, err);
	if (r == -EWOULDBLOCK)
		return refuse(err);
	if (!r) /* fails while another process restores in place of a daemon */
		r = gs_lock_overtake(&over, err);
	if (r < 0)
		return r;
	snprintf(text, sizeof(text), "%d\n", (int)getpid());
	/* The pid is only for people. The lock itself counts, so a full disk does not matter. */
	if (ftruncate(fd, 0) || pwrite(fd, text, strlen(text), 0) < 0)
		errno = 0;
	*ret_fd = TAKE_FD(fd);
	return 0;
}
