// SPDX-License-Identifier: MIT
/*
 * cleaner.c - forks a process that cleans up if this process is killed
 *
 * If this process is killed, its programs and its daemon end too, and the daemon restores all
 * settings. But without the cleaner, the taps would stay on, and the bench's folder would stay in
 * /tmp.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "basic/beside.h"
#include "basic/cleanup.h"
#include "basic/clock.h"
#include "local/ask.h"
#include "qualify/priv.h"

#define DAEMON_MS 30000 /* longest wait for our daemon's end */
#define TRY_MS 100
#define STEP_MS 20000

static bool daemon_runs(void)
{
	CLEANUP(gs_closep) struct gpusched *g = NULL;

	return !gpusched_open(NULL, &g);
}

static void step(const char *const *argv, int null)
{
	CLEANUP_CHILD struct bench_child c = BENCH_CHILD_NONE;

	if (!bench_spawn_to(argv, null, null, &c, NULL))
		bench_spawned_wait(&c, STEP_MS);
}

/*
 * Waits for our daemon's end, then turns the taps off and removes the folder. A daemon that still
 * runs after the wait is not ours, and needs the taps.
 */
static void clean(const char *dir, bool taps, int null)
{
	char gpusched[512];
	const char *const off[] = { gpusched, "observe", "off", NULL };
	const char *const rm[] = { "rm", "-rf", "--", dir, NULL };

	for (int ms = 0; ms < DAEMON_MS && daemon_runs(); ms += TRY_MS)
		gs_sleep_ns(TRY_MS * NS_PER_MS);
	if (taps && !daemon_runs() && gs_beside("gpusched", gpusched, sizeof(gpusched)))
		step(off, null);
	if (dir[0])
		step(rm, null);
}

/*
 * Waits until the parent closes the pipe by dying, or writes to it. Uses a new session, so that a
 * closed terminal does not end it, and keeps none of the parent's outputs open.
 */
static void wait_for_death(int fd, const char *dir, bool taps)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	ssize_t n;
	char byte;

	setsid();
	prctl(PR_SET_NAME, "gpusched-clean");
	for (int i = 0; i < 3 && null >= 0; i++)
		dup2(null, i);
	do
		n = read(fd, &byte, 1);
	while (n < 0 && errno == EINTR);
	if (!n)
		clean(dir, taps, null);
	_exit(0);
}

int qualify_cleaner_start(struct qualify_cleaner *c, bool taps, struct gs_error *err)
{
	char *dir = mmap(NULL, QUALIFY_DIR_LEN, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			 -1, 0);
	int fds[2];

	if (dir == MAP_FAILED)
		return gs_fail(err, -ENOMEM, "out of memory");
	if (pipe2(fds, O_CLOEXEC)) {
		munmap(dir, QUALIFY_DIR_LEN);
		return gs_fail(err, -errno, "no pipe: %s", strerror(errno));
	}
	c->pid = fork();
	if (!c->pid) {
		close(fds[1]);
		wait_for_death(fds[0], dir, taps);
	}
	close(fds[0]);
	c->dir = dir;
	c->fd = fds[1];
	if (c->pid > 0)
		return 0;
	qualify_cleaner_end(c);
	return gs_fail(err, -EAGAIN, "no process to clean up after us: %s", strerror(EAGAIN));
}

void qualify_cleaner_end(struct qualify_cleaner *c)
{
	if (!c->dir)
		return;
	if (c->pid > 0 && write(c->fd, "", 1) == 1)
		waitpid(c->pid, NULL, 0);
	close(c->fd);
	munmap(c->dir, QUALIFY_DIR_LEN);
	c->dir = NULL;
}
