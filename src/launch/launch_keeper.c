// SPDX-License-Identifier: MIT
/*
 * launch_keeper.c - a process that lets go of a library's probes, so that the daemon need not
 *
 * The kernel takes about 0.1 s to detach one probe, and does it in the exit of the process that has
 * it, before anybody is told of that exit. A killed daemon's changes would wait for that to be put
 * back. So a process of its own has each library's probes as well, and is the last to close them.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/membarrier.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "basic/log.h"
#include "launch/launch.bpf.h"
#include "launch/launch_keeper.h"

static int by_number(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/* All but @fds, which it sorts. */
static void close_others(int *fds, size_t n)
{
	unsigned int from = 0;

	qsort(fds, n, sizeof(*fds), by_number);
	for (size_t i = 0; i < n; i++) {
		if ((unsigned int)fds[i] > from)
			close_range(from, (unsigned int)fds[i] - 1, 0);
		from = (unsigned int)fds[i] + 1;
	}
	close_range(from, ~0u, 0);
}

void gs_launch_quiesce(void)
{
	/* no probe that began before this call still runs after it */
	if (syscall(__NR_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0) < 0)
		usleep(20000);
}

/* After fork in a process with threads: system calls only. */
static void __attribute__((noreturn))
keep(const struct gs_keeper_job *job, int *fds, size_t n, int told)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts);
	const uint64_t off = GS_LAUNCH_LIB_OFF;
	ssize_t r;
	char c;

	prctl(PR_SET_NAME, "gpusched-keeper");
	setsid();
	if (chdir("/"))
		_exit(1);
	close_others(fds, n);
	do
		r = read(told, &c, 1);
	while (r < 0 && errno == EINTR);
	if (r == 0) { /* the daemon died: what it counted is not exact from here on */
		bpf_map_update_elem(job->libs_fd, &job->lib, &off, BPF_ANY);
		gs_launch_quiesce();
		bpf_prog_test_run_opts(job->forget_fd, &opts);
	}
	_exit(0);
}

int gs_keeper_start(const struct gs_keeper_job *job, int *ret_fd)
{
	CLEANUP_FREE int *fds = calloc(job->n + 3, sizeof(*fds));
	int ends[2], status = 0;
	pid_t child;

	if (!fds)
		return -ENOMEM;
	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	for (size_t i = 0; i < job->n; i++)
		fds[i] = job->fds[i];
	fds[job->n] = job->libs_fd;
	fds[job->n + 1] = job->forget_fd;
	fds[job->n + 2] = ends[0];
	child = fork();
	if (child == 0) {
		child = fork(); /* nobody has to wait for the one that stays */
		if (child == 0)
			keep(job, fds, job->n + 3, ends[0]);
		_exit(child < 0);
	}
	close(ends[0]);
	while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	if (child < 0 || status) {
		close(ends[1]);
		return -EAGAIN;
	}
	*ret_fd = ends[1];
	return 0;
}

void gs_keeper_release(int fd)
{
	if (fd < 0)
		return;
	if (write(fd, "", 1) < 0)
		gs_log(LOG_DEBUG, "the keeper of launch probes has ended before");
	close(fd);
}
