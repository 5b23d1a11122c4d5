// SPDX-License-Identifier: MIT
#include "mps/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/env.h"
#include "mps/control.h"

#define QUIT_MS 5000
#define LOOK_MS 500

static void run_control(const struct gs_mps_place *p, const char *program)
{
	char path[PATH_MAX];
	int log, null = open("/dev/null", O_RDONLY);

	snprintf(path, sizeof(path), "%s/log/control.out", p->dir);
	log = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	dup2(null, STDIN_FILENO);
	dup2(log, STDOUT_FILENO);
	dup2(log, STDERR_FILENO);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	execl(program, program, "-f", NULL);
	_exit(127);
}

/*
 * Sends @sig (0: none) to all children; orphaned descendants are children of this subreaper too.
 * Returns true if there are any.
 */
static bool kill_children(int sig)
{
	char path[64];
	CLEANUP_FILE FILE *f = NULL;
	bool any = false;
	int pid;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
	f = fopen(path, "re");
	while (f && fscanf(f, "%d", &pid) == 1) {
		any = true;
		if (sig)
			kill(pid, sig);
	}
	return any;
}

static void reap(void)
{
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
}

static void end_all(void)
{
	uint64_t until = gs_now_ns() + QUIT_MS * NS_PER_MS;
	char text[256];

	gs_mps_control_ask(text, sizeof(text), "quit -t 1");
	do {
		reap();
		if (!kill_children(gs_now_ns() < until ? 0 : SIGKILL))
			return;
		gs_sleep_ns(20 * NS_PER_MS);
	} while (gs_now_ns() < until + QUIT_MS * NS_PER_MS);
}

/* Returns true if the control daemon or the supervisor has ended. Waits for at most LOOK_MS. */
static bool is_over(pid_t control, int hold)
{
	struct pollfd f = { .fd = hold, .events = POLLIN };
	pid_t ended;

	while ((ended = waitpid(-1, NULL, WNOHANG)) > 0)
		if (ended == control)
			return true;
	/* nothing is ever written to the pipe, so it is ready only if its other end is closed */
	return poll(&f, 1, LOOK_MS) != 0;
}

static void keep(pid_t control, int hold)
{
	while (!is_over(control, hold))
		;
	end_all();
	_exit(0);
}

/* Turns this process into a keeper, with a new session and without the supervisor's descriptors. */
static void be_keeper(const struct gs_mps_place *p, const char *program, int hold)
{
	pid_t control;

	setsid();
	prctl(PR_SET_NAME, "gpusched-keeper");
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	for (int sig = 1; sig < NSIG; sig++)
		signal(sig, sig == SIGTERM || sig == SIGINT || sig == SIGHUP ? SIG_IGN : SIG_DFL);
	close_range(STDERR_FILENO + 1, (unsigned int)hold - 1, 0);
	close_range((unsigned int)hold + 1, UINT_MAX, 0);
	control = fork();
	if (!control) {
		signal(SIGTERM, SIG_DFL);
		run_control(p, program);
	}
	if (control > 0)
		keep(control, hold);
	_exit(1);
}

int gs_mps_keeper_start(const struct gs_mps_place *p, struct gs_mps_keeper *ret,
			struct gs_error *err)
{
	char program[PATH_MAX], path[PATH_MAX];
	static const char *const dirs[] = { "pipe", "log" };
	int hold[2];
	pid_t pid;

	gs_mps_control_program("nvidia-cuda-mps-control", program, sizeof(program));
	if (!program[0])
		return gs_fail(err, -ENOTSUP, "nvidia-cuda-mps-control is not installed: %s",
			       gs_env()->sim
				       ? "gpusched-sim(8) says how a sim shell gets a stand-in"
				       : "it comes with the NVIDIA driver");
	for (size_t i = 0; i < GS_COUNT(dirs); i++) {
		snprintf(path, sizeof(path), "%s/%s", p->dir, dirs[i]);
		if (mkdir(path, 0700) && errno != EEXIST)
			return gs_fail(err, -errno, "%s cannot be made: %s", path, strerror(errno));
		gs_mps_place_clear(p, dirs[i]);
	}
	if (pipe2(hold, O_CLOEXEC))
		return gs_fail(err, -errno, "no pipe: %s", strerror(errno));
	pid = fork();
	if (!pid) {
		close(hold[1]);
		be_keeper(p, program, hold[0]);
	}
	close(hold[0]);
	if (pid < 0) {
		close(hold[1]);
		return gs_fail(err, -EAGAIN, "no new process: %s", strerror(errno));
	}
	*ret = (struct gs_mps_keeper){ pid, hold[1] };
	return 0;
}

bool gs_mps_keeper_is_gone(struct gs_mps_keeper *k)
{
	if (k->pid && waitpid(k->pid, NULL, WNOHANG) == k->pid) {
		close(k->hold);
		*k = (struct gs_mps_keeper)GS_MPS_NO_KEEPER;
	}
	return !k->pid;
}

void gs_mps_keeper_end(struct gs_mps_keeper *k)
{
	if (!k->pid)
		return;
	close(k->hold);
	while (waitpid(k->pid, NULL, 0) < 0 && errno == EINTR)
		;
	*k = (struct gs_mps_keeper)GS_MPS_NO_KEEPER;
}
