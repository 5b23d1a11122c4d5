// SPDX-License-Identifier: MIT
/*
 * guardian.c - runs a process that outlives the daemon and then restores everything
 *
 * It has its own session, and its own cgroup if cgroup2 is available, so that a kill of the
 * daemon's session or cgroup does not end it too. It opens the table before the daemon can die;
 * pins that vanish later do not matter.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <syslog.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/log.h"
#include "basic/procfs.h"
#include "engine/engine.h"
#include "engine/guardian.h"
#include "engine/lock.h"
#include "engine/restore.h"
#include "process/cgroup.h"
#include "engine/internal.h"
#include "engine/ops.h"

#define GUARDIAN_CGROUP "gpusched-guardian"
#define LOCK_WAIT_NS NS_PER_S
#define RETRY_NS (100 * NS_PER_MS)
#define RETRY_MOST_NS NS_PER_S
#define RETRY_FOR_NS (30 * NS_PER_S) /* how long the table is tried if it can't be read */
#define READY_MS 5000
#define BEAT_LATE_NS (2 * NS_PER_S)
#define BEAT_LOST_NS (5 * NS_PER_S)
#define BEAT_LOOK_MS 1000

/* ---- a separate cgroup ----------------------------------------------------------------------- */

static int join_cgroup(const char *dir)
{
	char path[1400];
	CLEANUP_FD int fd = -1;

	snprintf(path, sizeof(path), "%s/cgroup.procs", dir);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	return write(fd, "0", 1) == 1 ? 0 : -errno;
}

/* Moves into a sibling of the daemon's cgroup. ret_dir is "" if that is impossible. */
static void leave_cgroup(char *ret_dir, char *ret_parent, size_t size)
{
	const char *mount = gs_cgroup_root();
	char own[GS_CGROUP_PATH_LEN], *slash;

	ret_dir[0] = '\0';
	if (!mount || gs_cgroup_path(getpid(), own))
		return;
	slash = strrchr(own, '/');
	if (slash)
		*slash = '\0';
	snprintf(ret_parent, size, "%s%s", mount, own);
	snprintf(ret_dir, size, "%s%s/%s", mount, own, GUARDIAN_CGROUP);
	if ((mkdir(ret_dir, 0755) && errno != EEXIST) || join_cgroup(ret_dir))
		ret_dir[0] = '\0';
}

static void return_cgroup(const char *dir, const char *parent)
{
	if (dir[0] && !join_cgroup(parent))
		rmdir(dir);
}

/* ---- watching -------------------------------------------------------------------------------- */

/* The daemon's heartbeat at the last check. */
struct heart {
	uint64_t ns;
	uint32_t epoch;
	/* since that beat, this process or another one has restored in place of the daemon */
	bool overtaken;
};

/*
 * Restores in place of a daemon that lives and does nothing. If not all is restored, tries again a
 * second later.
 */
static void overtake(struct gs_table *o, unsigned int branch, struct heart *h)
{
	CLEANUP_FD int lock = -1;
	struct gs_restored res = { 0 };
	int r;

	if (gs_lock_overtake(&lock, NULL) || gs_engine_ops.next_epoch(o))
		return;
	h->epoch++;
	/* comes first, so that the policy's gate stops no more processes */
	gs_engine_ops.policy_active(o, false);
	r = gs_restore(o, branch, &res, NULL);
	h->overtaken = !r;
	if (r && !res.restored && !res.gone) /* nothing new since the last try */
		return;
	syslog(r ? LOG_WARNING : LOG_NOTICE,
	       "the daemon does not answer: %u TSGs changed, %u put back, %u gone, %u failed, %u "
	       "stopped processes let go on",
	       res.changed, res.restored, res.gone, res.failed, res.continued);
}

/*
 * Acts for a daemon that lives but does nothing: continues processes that the gate has stopped, and
 * restores. It restores only after a second check without a new heartbeat, since the whole machine
 * may have stood still.
 */
static void look_at_heart(struct gs_table *o, unsigned int branch, struct heart *h)
{
	struct gpusched_cfg cfg;
	uint64_t now = gs_now_ns();

	if (gs_engine_ops.cfg(o, &cfg) || !cfg.heartbeat_ns)
		return;
	if ((cfg.gate || cfg.newcomers_until_ns) &&
	    now > cfg.heartbeat_ns + gs_dilated(BEAT_LATE_NS))
		gs_engine_ops.gate_release(o, true, NULL);
	if (cfg.heartbeat_ns != h->ns) {
		*h = (struct heart){ .ns = cfg.heartbeat_ns, .epoch = cfg.epoch };
		return;
	}
	h->overtaken |= cfg.epoch != h->epoch;
	if (!h->overtaken && now > cfg.heartbeat_ns + gs_dilated(BEAT_LOST_NS))
		overtake(o, branch, h);
}

/* Returns true if the daemon died, false if it told us to end. */
static bool wait_for_death(struct gs_table *o, unsigned int branch, int pidfd, int release)
{
	struct heart heart = { 0 };
	struct pollfd p[2] = {
		{ .fd = pidfd, .events = POLLIN },
		{ .fd = release, .events = POLLIN },
	};
	char byte;

	for (;;) {
		int r = poll(p, 2, BEAT_LOOK_MS);

		if (r < 0 && errno != EINTR)
			return true;
		if (!r)
			look_at_heart(o, branch, &heart);
		if (r <= 0)
			continue;
		if (p[1].revents & (POLLIN | POLLHUP)) {
			if (read(release, &byte, 1) == 1)
				return false;
			/* the daemon closed the pipe without a message: look whether it lives */
			p[1].fd = -1;
		}
		if (p[0].revents)
			return true;
	}
}

/*
 * True if a new daemon has written a heartbeat. A daemon repairs before it starts, so nothing is
 * left for us to do.
 */
static bool someone_else_acts(struct gs_table *o, uint64_t died_ns)
{
	struct gpusched_cfg cfg;

	return !gs_engine_ops.cfg(o, &cfg) && cfg.heartbeat_ns > died_ns;
}

static int take_lock(struct gs_table *o, uint64_t died_ns, bool *ret_other)
{
	uint64_t end = gs_now_ns() + LOCK_WAIT_NS;
	int fd = -1;

	*ret_other = false;
	while (gs_lock_take(&fd, NULL) == -EBUSY && gs_now_ns() < end) {
		*ret_other = someone_else_acts(o, died_ns);
		if (*ret_other)
			break;
		gs_sleep_ns(NS_PER_MS);
	}
	return fd;
}

/* Adds the last try's result @res to @sum, that of all tries, and writes the report. */
static void report(struct gs_restored *sum, const struct gs_restored *res, uint64_t died_ns)
{
	struct gs_error err = { 0 };

	sum->restored += res->restored;
	sum->gone += res->gone;
	sum->failed = res->failed;
	sum->continued += res->continued;
	sum->changed = sum->restored + sum->gone + sum->failed;
	if (gs_report_write(sum, died_ns, &err))
		syslog(LOG_WARNING, "%s", err.text);
}

static int restore(struct gs_table *o, unsigned int branch, uint64_t died_ns,
		   struct gs_restored *sum)
{
	struct gs_restored res = { 0 };
	bool first = !sum->changed;
	int r = gs_restore(o, branch, &res, NULL);

	if (!first && !res.restored && !res.gone && !res.continued && res.failed == sum->failed)
		return r; /* the same as at the last try */
	report(sum, &res, died_ns);
	syslog(r ? LOG_WARNING : LOG_NOTICE,
	       "daemon died: %u TSGs changed, %u put back, %u gone, %u failed, %u "
	       "stopped processes let go on, %llu ms",
	       res.changed, res.restored, res.gone, res.failed, res.continued,
	       (unsigned long long)(res.ns / NS_PER_MS));
	return r;
}

/*
 * Tries until nothing is left that was not put back, for as long as its owner lives: RM's lock can
 * be held for 45 s, and longer. So an owner that prevents its own restore keeps this process, and
 * no other, until the owner or its TSG ends, or a new daemon acts. Others must not wait for that
 * owner: the lock is free between two tries.
 */
static void put_back(struct gs_table *o, unsigned int branch)
{
	uint64_t died = gs_now_ns(), rest = RETRY_NS;
	struct gs_restored sum = { 0 };
	bool other;
	CLEANUP_FD int lock = take_lock(o, died, &other);
	int r = 0;

	if (!other)
		r = restore(o, branch, died, &sum);
	if (!other && lock >= 0) /* without the lock, another process has begun to restore */
		gs_engine_ops.launches_forget();
	while (!other && (r == -EIO || (r && gs_now_ns() - died < RETRY_FOR_NS))) {
		if (lock >= 0)
			close(TAKE_FD(lock));
		gs_engine_ops.policy_active(o, false);
		gs_sleep_ns(rest);
		rest = rest * 2 < RETRY_MOST_NS ? rest * 2 : RETRY_MOST_NS;
		lock = take_lock(o, died, &other);
		other |= someone_else_acts(o, died);
		if (lock >= 0 && !other)
			r = restore(o, branch, died, &sum);
	}
	if (other || someone_else_acts(o, died))
		return;
	gs_engine_ops.policy_active(o, false);
	gs_engine_ops.heartbeat(o, 0);
	gs_engine_ops.gate_release(o, true, NULL); /* processes that the gate stopped meanwhile */
}

/* ---- the process ----------------------------------------------------------------------------- */

/* Moves two descriptors to numbers 3 and 4, opens /dev/null at 0 to 2, and closes all others. */
static void shed(int *pidfd, int *release)
{
	int null = open("/dev/null", O_RDWR);
	int high = fcntl(*release, F_DUPFD, 10), p = fcntl(*pidfd, F_DUPFD, 10);

	for (int i = 0; i < 3; i++)
		dup2(null, i);
	dup2(p, 3);
	dup2(high, 4);
	close_range(5, ~0u, 0);
	fcntl(3, F_SETFD, FD_CLOEXEC);
	fcntl(4, F_SETFD, FD_CLOEXEC);
	*pidfd = 3;
	*release = 4;
}

static void ignore_signals(void)
{
	static const int signals[] = {
		SIGTERM, SIGINT, SIGHUP, SIGPIPE, SIGQUIT, SIGUSR1, SIGUSR2
	};
	sigset_t none;

	for (size_t i = 0; i < GS_COUNT(signals); i++)
		signal(signals[i], SIG_IGN);
	signal(SIGCHLD, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static void spare_from_oom(void)
{
	CLEANUP_FD int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd >= 0 && write(fd, "-900", 4) < 0)
		errno = 0; /* we may not be allowed to lower the score */
}

static void guard(int pidfd, int release, unsigned int branch)
{
	char dir[1200], parent[1200], ready = 1;
	struct gs_table *o = NULL;

	setsid();
	ignore_signals();
	gs_log_sink(NULL, NULL, LOG_ERR);
	prctl(PR_SET_NAME, "gpusched-guard");
	shed(&pidfd, &release);
	gs_procfs_begin();
	openlog("gpusched-guardian", LOG_PID, LOG_DAEMON);
	spare_from_oom();
	leave_cgroup(dir, parent, sizeof(dir));
	if (gs_engine_ops.open(&o, NULL) < 0)
		_exit(1);
	gs_self_get(o);
	/* if the daemon is dead already, nobody reads this, but its changes are restored */
	if (write(release, &ready, 1) != 1)
		errno = 0;
	if (wait_for_death(o, branch, pidfd, release))
		put_back(o, branch);
	gs_self_put(o);
	gs_engine_ops.close(o);
	return_cgroup(dir, parent);
	_exit(0);
}

/* Waits until the guardian has opened the table: before that it could restore nothing. */
static int wait_ready(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	char byte;
	int r;

	do
		r = poll(&p, 1, READY_MS);
	while (r < 0 && errno == EINTR);
	if (r <= 0)
		return r ? -errno : -ETIMEDOUT;
	return read(fd, &byte, 1) == 1 ? 0 : -ECHILD;
}

/* ---- in the daemon --------------------------------------------------------------------------- */

struct gs_guardian {
	pid_t pid; /* 0: none yet */
	int pidfd, fd;
	uint64_t since_ns;
};

void gs_guardian_end(struct gs_guardian *g)
{
	if (!g)
		return;
	if (g->fd >= 0 && send(g->fd, "q", 1, MSG_NOSIGNAL) != 1 && errno != EPIPE)
		gs_log(LOG_WARNING, "the guardian could not be told to leave: %s", strerror(errno));
	if (g->fd >= 0)
		close(g->fd);
	if (g->pidfd >= 0)
		close(g->pidfd);
	if (g->pid > 0)
		waitpid(g->pid, NULL, 0);
	free(g);
}

static void guardian_end_(struct gs_guardian **g)
{
	gs_guardian_end(*g);
}

int gs_guardian_fd(const struct gs_guardian *g)
{
	return g->pidfd;
}

pid_t gs_guardian_pid(const struct gs_guardian *g)
{
	return g->pid;
}

uint64_t gs_guardian_age_ns(const struct gs_guardian *g)
{
	return gs_now_ns() - g->since_ns;
}

static int start(struct gs_guardian *g, struct gs_table *o, unsigned int branch)
{
	CLEANUP_FD int ours = (int)syscall(SYS_pidfd_open, getpid(), 0), theirs = -1;
	int pair[2], r;

	if (ours < 0 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return -errno;
	g->fd = pair[0];
	theirs = pair[1];
	g->pid = fork();
	if (g->pid < 0)
		return -errno;
	if (!g->pid)
		guard(ours, theirs, branch);
	close(TAKE_FD(theirs));
	g->pidfd = (int)syscall(SYS_pidfd_open, g->pid, 0);
	r = g->pidfd < 0 ? -errno : wait_ready(g->fd);
	if (r < 0)
		kill(g->pid, SIGKILL);
	return r;
}

int gs_guardian_start(struct gs_table *o, unsigned int branch, struct gs_guardian **ret,
		      struct gs_error *err)
{
	CLEANUP(guardian_end_) struct gs_guardian *g = malloc(sizeof(*g));
	int r;

	if (!g)
		return gs_fail(err, -ENOMEM, "out of memory");
	*g = (struct gs_guardian){ .pidfd = -1, .fd = -1, .since_ns = gs_now_ns() };
	r = start(g, o, branch);
	if (r < 0)
		return gs_fail(err, r, "the guardian cannot start: %s", strerror(-r));
	*ret = TAKE_PTR(g);
	return 0;
}
