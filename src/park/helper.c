// SPDX-License-Identifier: MIT
#include "park/helper.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "basic/beside.h"
#include "basic/cleanup.h"

#define ITS_SOCKET 3

extern char **environ;

static void find(char *ret, size_t size)
{
	if (!gs_beside(GS_PARK_HELPER, ret, size))
		gs_beside_installed(GPUSCHED_PREFIX "/lib/gpusched/" GS_PARK_HELPER, ret, size);
}

/* The helper starts with no signal blocked, and inherits only its socket of our descriptors. */
static int spawn(const char *path, int socket, pid_t *ret)
{
	char name[] = GS_PARK_HELPER, *argv[] = { name, NULL };
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t none, all;
	int r;

	sigemptyset(&none);
	sigfillset(&all);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setsigdefault(&attr, &all);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDWR, 0);
	posix_spawn_file_actions_adddup2(&files, 0, 1);
	posix_spawn_file_actions_adddup2(&files, 0, 2);
	posix_spawn_file_actions_adddup2(&files, socket, ITS_SOCKET);
	r = posix_spawn(ret, path, &files, &attr, argv, environ);
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&attr);
	return -r;
}

int gs_park_helper_start(struct gs_park_helper *ret, struct gs_error *err)
{
	CLEANUP_FD int ours = -1;
	CLEANUP_FD int theirs = -1;
	char path[PATH_MAX];
	int ends[2], r;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends))
		return gs_fail(err, -errno, "a socket: %s", strerror(errno));
	ours = ends[0];
	theirs = ends[1];
	fcntl(theirs, F_SETFL, 0);
	find(path, sizeof(path));
	r = spawn(path, theirs, &pid);
	if (r)
		return gs_fail(err, r, "%s does not start: %s", path, strerror(-r));
	*ret = (struct gs_park_helper){ .pid = pid,
					.fd = TAKE_FD(ours),
					.pidfd = (int)syscall(SYS_pidfd_open, pid, 0) };
	return 0;
}

int gs_park_helper_ask(const struct gs_park_helper *h, const struct gs_park_request *rq)
{
	return send(h->fd, rq, sizeof(*rq), MSG_NOSIGNAL) == sizeof(*rq) ? 0 : -EPIPE;
}

int gs_park_helper_answer(const struct gs_park_helper *h, const struct gs_park_request *rq,
			  struct gs_park_answer *ret)
{
	ssize_t n = recv(h->fd, ret, sizeof(*ret), MSG_DONTWAIT | MSG_TRUNC);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return -EAGAIN;
	if (n <= 0)
		return -EPIPE;
	return n == sizeof(*ret) ? gs_park_core_check_answer(rq, ret) : -EPROTO;
}

void gs_park_helper_leave(struct gs_park_helper *h, bool must)
{
	if (must && h->pidfd >= 0)
		syscall(SYS_pidfd_send_signal, h->pidfd, SIGKILL, NULL, 0);
	if (h->fd >= 0)
		close(h->fd);
	h->fd = -1;
}

bool gs_park_helper_reap(struct gs_park_helper *h)
{
	if (h->pid > 0 && !waitpid(h->pid, NULL, WNOHANG))
		return false;
	if (h->pidfd >= 0)
		close(h->pidfd);
	h->pidfd = -1;
	h->pid = 0;
	return true;
}
