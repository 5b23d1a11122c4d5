// SPDX-License-Identifier: MIT
#include "bench/spawn.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "basic/cleanup.h"
#include "basic/clock.h"

#define STOP_MS 10000

static void child(const char *const *argv, int out, int log_fd, pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(127);
	dup2(out, STDOUT_FILENO);
	if (log_fd >= 0)
		dup2(log_fd, STDERR_FILENO);
	execvp(argv[0], (char *const *)argv);
	dprintf(STDERR_FILENO, "%s cannot be executed: %s\n", argv[0], strerror(errno));
	_exit(127);
}

int bench_spawn_to(const char *const *argv, int out_fd, int log_fd, struct bench_child *ret,
		   struct gs_error *err)
{
	pid_t pid, parent = getpid();

	pid = fork();
	if (pid == 0)
		child(argv, out_fd, log_fd, parent);
	if (pid < 0)
		return gs_fail(err, -errno, "%s cannot be started: %s", argv[0], strerror(errno));
	*ret = (struct bench_child){ .pid = pid, .out = -1, .name = argv[0] };
	return 0;
}

int bench_spawn(const char *const *argv, int log_fd, struct bench_child *ret, struct gs_error *err)
{
	int fds[2], r;

	if (pipe2(fds, O_CLOEXEC))
		return gs_fail(err, -errno, "%s: no pipe: %s", argv[0], strerror(errno));
	r = bench_spawn_to(argv, fds[1], log_fd, ret, err);
	close(fds[1]);
	if (r) {
		close(fds[0]);
		return r;
	}
	fcntl(fds[0], F_SETFL, O_NONBLOCK);
	ret->out = fds[0];
	return 0;
}

/* Moves one line out of the buffer. False: the buffer has no complete line. */
static bool take_line(struct bench_child *c, bool at_end, char *ret, size_t size)
{
	char *nl = memchr(c->buf, '\n', c->used);
	size_t len = nl ? (size_t)(nl - c->buf) : c->used;

	if (!nl && (!at_end || !c->used) && c->used < sizeof(c->buf))
		return false;
	snprintf(ret, size, "%.*s", (int)len, c->buf);
	c->used -= len + (nl ? 1 : 0);
	memmove(c->buf, c->buf + len + (nl ? 1 : 0), c->used);
	return true;
}

int bench_spawned_line(struct bench_child *c, unsigned int timeout_ms, char *ret, size_t size)
{
	uint64_t end = gs_now_ns() + timeout_ms * NS_PER_MS;

	for (;;) {
		struct pollfd p = { .fd = c->out, .events = POLLIN };
		uint64_t now = gs_now_ns();
		ssize_t n;

		if (take_line(c, false, ret, size))
			return 0;
		if (now >= end)
			return -ETIMEDOUT;
		poll(&p, 1, (int)((end - now) / NS_PER_MS) + 1);
		n = read(c->out, c->buf + c->used, sizeof(c->buf) - c->used);
		if (n > 0)
			c->used += (size_t)n;
		else if (n == 0)
			return take_line(c, true, ret, size) ? 0 : -ENODATA;
	}
}

int bench_spawned_wait(struct bench_child *c, unsigned int timeout_ms)
{
	uint64_t end = gs_now_ns() + timeout_ms * NS_PER_MS;
	int status;

	while (c->pid > 0) {
		pid_t got = waitpid(c->pid, &status, WNOHANG);

		if (got == c->pid || (got < 0 && errno != EINTR)) {
			c->pid = 0;
			if (got < 0)
				return -ECHILD;
			return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
		}
		if (gs_now_ns() >= end)
			return -ETIMEDOUT;
		gs_sleep_ns(5 * NS_PER_MS);
	}
	return -ECHILD;
}

void bench_spawned_stop(struct bench_child *c)
{
	if (c->pid <= 0)
		return;
	kill(c->pid, SIGTERM);
	if (bench_spawned_wait(c, STOP_MS) != -ETIMEDOUT)
		return;
	kill(c->pid, SIGKILL);
	bench_spawned_wait(c, STOP_MS);
}

void bench_spawned_free_(struct bench_child *c)
{
	bench_spawned_stop(c);
	if (c->out >= 0)
		close(c->out);
	c->out = -1;
}
