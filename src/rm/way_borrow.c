// SPDX-License-Identifier: MIT
/*
 * way_borrow.c - makes RM calls through a short-lived copy of the owner's nvidiactl descriptor
 *
 * RM grants rights per open file, so a call on the copy has the owner's rights. The order is
 * always: pidfd_open, compare start time, pidfd_getfd, check the device number (or the registered
 * simulated file), call, close. Any other kind of file must neither get a call nor block us. So we
 * check the file through /proc before the copy, and check the copy again; neither check asks the
 * file's file system. If the copy is a wrong file, a separate thread closes it, since closing a
 * FUSE file waits for its server.
 */
#include "rm/way.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/procfs.h"
#include "process/process.h"
#include "rm/abi.h"
#include "rm/sys.h"

#define PIDFD_OF_THREAD O_EXCL /* PIDFD_THREAD, since Linux 6.9 */

/* ---- which files are the driver's ------------------------------------------------------------ */

static bool accepted(int dirfd, const char *path, int flags)
{
	struct statx st;

	return !statx(dirfd, path, flags | AT_STATX_DONT_SYNC, STATX_BASIC_STATS, &st) &&
	       gs_rm_sys.accept(&st);
}

static bool looks_right(pid_t pid, int number)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/%d/fd/%d", gs_procfs(), (int)pid, number);
	return accepted(AT_FDCWD, path, 0);
}

#define FINDS 3 /* calls of @find per borrow: the owner may move the file to another descriptor */

/*
 * Progress through the owner's descriptors that may be the client's file: first the TSG's @fd, then
 * those that @find returns.
 */
struct borrowing {
	int pidfd;
	pid_t pid;          /* pid of the owner, or the id of one of its threads */
	int number;         /* the last descriptor tried; -1: none */
	unsigned int finds; /* calls of @find so far */
};

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

static int copy_fd(struct borrowing *b, int number, int *ret)
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

/*
 * Borrows from another thread of the process. For a main thread that has ended: it no longer has
 * descriptors, but the remaining threads still share them.
 */
static int use_living_thread(struct borrowing *b)
{
	char path[64], state;
	uint64_t start;
	struct dirent *e;
	CLEANUP_DIR DIR *dir = NULL;

	snprintf(path, sizeof(path), "%s/%d/task", gs_procfs(), (int)b->pid);
	dir = opendir(path);
	while (dir && (e = readdir(dir))) {
		pid_t tid = atoi(e->d_name);
		int fd;

		if (tid <= 0 || tid == b->pid || gs_proc_stat(tid, &state, &start) || state == 'Z')
			continue;
		fd = (int)syscall(SYS_pidfd_open, tid, PIDFD_OF_THREAD);
		if (fd < 0) /* -EINVAL: the kernel knows no pidfd of a thread */
			return errno == EINVAL ? -ENOTSUP : -errno;
		close(b->pidfd);
		b->pidfd = fd;
		b->pid = tid;
		return 0;
	}
	return -ESRCH;
}

static bool lends_by_leader_only;

static void try_thread(void)
{
	CLEANUP_FD int fd = (int)syscall(SYS_pidfd_open, gettid(), PIDFD_OF_THREAD);

	lends_by_leader_only = fd < 0 && errno == EINVAL;
}

const char *gs_rm_borrow_unreachable_here(void)
{
	static pthread_once_t tried = PTHREAD_ONCE_INIT;

	pthread_once(&tried, try_thread);
	return lends_by_leader_only
		       ? "its main thread has ended: only Linux 6.9 or later can make calls then"
		       : NULL;
}

const char *gs_rm_borrow_unreachable(pid_t pid)
{
	const char *here = gs_rm_borrow_unreachable_here();

	return here && gs_process_is_leaderless(pid) ? here : NULL;
}

static void end(struct borrowing *b)
{
	if (b->pidfd >= 0)
		close(b->pidfd);
	b->pidfd = -1;
}

static int begin(struct borrowing *b, pid_t pid, uint64_t start_ns)
{
	uint64_t start;
	char state;
	int r = 0;

	*b = (struct borrowing){ .pidfd = -1, .pid = pid, .number = -1 };
	if (pid <= 0)
		return -ESRCH;
	b->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (b->pidfd < 0)
		return errno == EINVAL ? -ESRCH : -errno;
	/* read after pidfd_open(): if the start time is the owner's, the pidfd is as well */
	r = gs_proc_stat(pid, &state, &start);
	if (!r && gs_process_still(r, start, start_ns) == GS_STILL_NO)
		r = -ESRCH;
	if (!r && state == 'Z')
		r = use_living_thread(b);
	if (r < 0)
		end(b);
	return r;
}

static int next(struct borrowing *b, const struct gs_rm_tsg *tsg, int *ret_fd)
{
	int number = tsg->fd, r = -EBADF;

	if (b->number < 0) {
		b->number = number;
		r = copy_fd(b, number, ret_fd);
	}
	while (r == -EBADF && tsg->find && b->finds++ < FINDS) {
		number = tsg->find(tsg->finder, tsg->pid, tsg->file);
		if (number < 0 || number == b->number)
			return number < 0 ? number : -EBADF;
		b->number = number;
		r = copy_fd(b, number, ret_fd);
	}
	return r;
}

/*
 * Borrows the next candidate. *ret_fd is our copy, which the caller closes; *ret_number is the
 * owner's descriptor. -EBADF: no candidate is left.
 */
static int borrow(struct borrowing *b, const struct gs_rm_tsg *tsg, int *ret_fd, int *ret_number)
{
	int fd = -1, r = gs_wait_begin(tsg->wait, tsg->pid, tsg->uid);

	if (r)
		return r;
	if (b->pidfd < 0)
		r = begin(b, tsg->pid, tsg->start_ns);
	if (!r)
		r = next(b, tsg, &fd);
	/* the process is exiting and has closed its files; the tap may not have seen that yet */
	if (r == -EBADF && !gs_proc_has_life(tsg->pid))
		r = -ESRCH;
	if (!gs_wait_end(tsg->wait)) {
		if (fd >= 0)
			close(fd);
		return -ECANCELED;
	}
	*ret_fd = fd;
	*ret_number = b->number;
	return r;
}

/* ---- the way --------------------------------------------------------------------------------- */

/*
 * True if RM no longer has the TSG. The owner could give us a wrong file, and must not make a TSG
 * look ended in that way. Handles of clients are unique. So if RM found the client on this file but
 * no TSG, the TSG has ended. If RM did not find the client here, the client may be on a file that
 * we cannot see. Then the TSG has ended only if RM has no such client at all.
 */
static bool is_denied(const struct gs_rm_tsg *tsg, int err, const struct gs_rm_result *res)
{
	if (err == -ENOENT)
		return true;
	return err == -EBADF && res->status == GS_NV_INVALID_CLIENT &&
	       !gs_rm_client_known(tsg->client);
}

/* Performs a step on the first of the owner's descriptors that has the TSG's client. */
static int perform_on_any(struct borrowing *b, struct gs_session *s, struct gs_rm_step *step)
{
	for (;;) {
		int number = step->res.fd, r;

		if (s->fd < 0) {
			r = borrow(b, s->tsg, &s->fd, &number);
			if (r < 0)
				return r;
			s->proven = false;
			step->res.fd = number;
		}
		r = gs_rm_ops_perform(s, step->op, step->arg, &step->res);
		/* -ENOTTY: in the simulator, the file is not a control file */
		if ((r != -EBADF && r != -ENOTTY) || s->proven)
			return r;
		close(s->fd);
		s->fd = -1;
	}
}

static int take(const struct gs_rm_tsg *tsg, struct gs_rm_step *steps, size_t n)
{
	struct borrowing b CLEANUP(end) = { .pidfd = -1 };
	struct gs_session s = { .tsg = tsg, .fd = -1 };
	uint64_t begun = gs_now_ns();
	int number = tsg->fd, r = 0;

	for (size_t i = 0; i < n; i++)
		steps[i].res = (struct gs_rm_result){ .err = -ECANCELED, .fd = tsg->fd };
	for (size_t i = 0; i < n && !r; i++) {
		struct gs_rm_result *res = &steps[i].res;
		uint64_t now;

		res->fd = number;
		r = perform_on_any(&b, &s, &steps[i]);
		number = res->fd;
		if (r == -EACCES)
			r = -EPERM;
		res->denied = !s.proven && is_denied(tsg, r, res);
		res->err = r;
		now = gs_now_ns();
		res->ns = now - begun;
		begun = now;
	}
	if (s.fd >= 0)
		close(s.fd);
	return r;
}

static bool reaches(const struct gs_rm_tsg *tsg)
{
	return true;
}

const struct gs_way gs_way_borrow = { .name = "borrow", .reaches = reaches, .take = take };

/* ---- a descriptor for other calls ------------------------------------------------------------ */

/*
 * A borrow in a separate thread. For a caller that must not block: that thread can be given up, and
 * the caller's own thread cannot.
 */
struct errand {
	struct gs_wait wait;
	struct gs_rm_tsg tsg;
	sem_t done;
	int code, fd;
};

static void errand_free(struct errand *e)
{
	sem_destroy(&e->done);
	free(e);
}

static void *run_errand(void *arg)
{
	struct borrowing b CLEANUP(end) = { .pidfd = -1 };
	struct errand *e = arg;
	int number;

	e->code = borrow(&b, &e->tsg, &e->fd, &number);
	if (gs_wait_is_given_up(&e->wait))
		errand_free(e);
	else
		sem_post(&e->done); /* from now on the waiting thread owns @e */
	return NULL;
}

/* Waits for the borrow. Frees @e, except if the thread is given up: then the thread frees it. */
static int await_errand(struct errand *e, int *ret_fd)
{
	struct timespec t;
	int r;

	do {
		clock_gettime(CLOCK_MONOTONIC, &t);
		t.tv_nsec += (long)(10 * NS_PER_MS);
		if (t.tv_nsec >= (long)NS_PER_S) {
			t.tv_sec++;
			t.tv_nsec -= (long)NS_PER_S;
		}
		r = sem_clockwait(&e->done, CLOCK_MONOTONIC, &t);
		if (r && gs_wait_give_up(&e->wait, gs_wait_patience()))
			return -ETIMEDOUT;
	} while (r);
	r = e->code;
	*ret_fd = r ? *ret_fd : e->fd;
	errand_free(e);
	return r;
}

static int borrow_aside(const struct gs_rm_tsg *tsg, int *ret_fd)
{
	struct errand *e = calloc(1, sizeof(*e));
	pthread_t thread;
	int r;

	if (!e)
		return -ENOMEM;
	e->tsg = *tsg;
	e->tsg.wait = &e->wait;
	e->fd = -1;
	sem_init(&e->done, 0, 0);
	r = -pthread_create(&thread, NULL, run_errand, e);
	if (r) {
		errand_free(e);
		return r;
	}
	pthread_detach(thread);
	return await_errand(e, ret_fd);
}

int gs_rm_borrow(pid_t pid, uid_t uid, uint64_t start_ns, int number, int *ret_fd,
		 struct gs_error *err)
{
	const struct gs_rm_tsg tsg = { .pid = pid, .uid = uid, .start_ns = start_ns, .fd = number };
	int r = borrow_aside(&tsg, ret_fd);

	if (r == -ESRCH)
		return gs_fail(err, r, "process %d is gone", (int)pid);
	if (r == -ENOTSUP)
		return gs_fail(err, r, "process %d: %s", (int)pid, gs_rm_borrow_unreachable_here());
	if (r == -EBADF)
		return gs_fail(err, r, "process %d holds no NVIDIA control file", (int)pid);
	if (r == -ETIMEDOUT)
		return gs_fail(err, r, "process %d holds the lock of its execve()", (int)pid);
	if (r == -EPERM || r == -EACCES)
		return gs_fail(err, -EPERM, "may not borrow a file of process %d: run as root",
			       (int)pid);
	if (r < 0)
		return gs_fail(err, r, "borrowing a file of process %d: %s", (int)pid,
			       strerror(-r));
	return 0;
}
