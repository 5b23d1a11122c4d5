// SPDX-License-Identifier: MIT
#include "mps/control.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "basic/clock.h"

#define ASK_MS 5000
#define SMI_MS 20000

void gs_mps_control_program(const char *name, char *ret, size_t size)
{
	const char *path = getenv("PATH");
	CLEANUP_FREE char *all = NULL;
	char *at, *dir;

	ret[0] = '\0';
	if (asprintf(&all, "%s:/usr/bin:/usr/local/nvidia/bin", path ? path : "") < 0)
		return;
	at = all;
	while ((dir = strsep(&at, ":"))) {
		snprintf(ret, size, "%s/%s", dir, name);
		if (*dir == '/' && !access(ret, X_OK))
			return;
	}
	ret[0] = '\0';
}

void gs_mps_control_environment(const struct gs_mps_place *p, const char *gpus)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/pipe", p->dir);
	setenv("CUDA_MPS_PIPE_DIRECTORY", path, 1);
	snprintf(path, sizeof(path), "%s/log", p->dir);
	setenv("CUDA_MPS_LOG_DIRECTORY", path, 1);
	setenv("CUDA_VISIBLE_DEVICES", gpus, 1);
	unsetenv("CUDA_MPS_CLIENT_PRIORITY");
	unsetenv("CUDA_MPS_ACTIVE_THREAD_PERCENTAGE");
}

/* ---- running one program with a time limit --------------------------------------------------- */

void gs_mps_control_exec(char *const *argv, int in, int out)
{
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	dup2(in, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	dup2(out, STDERR_FILENO);
	execv(argv[0], argv);
	_exit(127);
}

/* Reads until the end of the output, but keeps only as much as fits into @ret. -ETIMEDOUT. */
static int read_until(int fd, uint64_t until, char *ret, size_t size)
{
	char rest[512] = "";
	size_t n = 0;

	for (;;) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		uint64_t now = gs_now_ns();
		bool room = n + 1 < size;
		ssize_t got;

		if (now >= until || poll(&p, 1, (int)((until - now) / NS_PER_MS) + 1) == 0)
			return -ETIMEDOUT;
		got = read(fd, room ? ret + n : rest, room ? size - 1 - n : sizeof(rest));
		if (got <= 0)
			return 0;
		n += room ? (size_t)got : 0;
		ret[n] = '\0';
	}
}

/* Waits for the program's end, which may be later than the end of its output. */
static int reap(pid_t pid, uint64_t until, int *ret_status)
{
	int status = 0;

	while (waitpid(pid, &status, WNOHANG) == 0) {
		if (gs_now_ns() >= until) {
			kill(pid, SIGKILL);
			waitpid(pid, &status, 0);
			return -ETIMEDOUT;
		}
		gs_sleep_ns(2 * NS_PER_MS);
	}
	*ret_status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	return 0;
}

/*
 * Runs @argv with @input (may be NULL) for at most @ms. Cuts its output to @size. Returns 0 and the
 * exit status in *ret_status, or -ETIMEDOUT: the program was killed.
 */
static int run(char *const *argv, const char *input, unsigned int ms, char *ret, size_t size,
	       int *ret_status)
{
	uint64_t until = gs_now_ns() + ms * NS_PER_MS;
	int in[2], out[2], r;
	pid_t pid;

	ret[0] = '\0';
	if (pipe2(in, O_CLOEXEC))
		return -errno;
	if (pipe2(out, O_CLOEXEC)) {
		close(in[0]);
		close(in[1]);
		return -errno;
	}
	pid = fork();
	if (!pid)
		gs_mps_control_exec(argv, in[0], out[1]);
	close(in[0]);
	close(out[1]);
	/* the input fits into the pipe's buffer, so the write does not block */
	if (pid > 0 && input && write(in[1], input, strlen(input)) < 0)
		errno = 0;
	close(in[1]);
	r = pid < 0 ? -EAGAIN : read_until(out[0], until, ret, size);
	close(out[0]);
	if (pid > 0 && r)
		until = 0;
	return pid > 0 ? reap(pid, until, ret_status) : r;
}

/* ---- the control program --------------------------------------------------------------------- */

int gs_mps_control_ask(char *ret, size_t size, const char *format, ...)
{
	char program[PATH_MAX], words[256];
	char *argv[] = { program, NULL };
	va_list ap;
	int status = 0, r;

	va_start(ap, format);
	vsnprintf(words, sizeof(words) - 1, format, ap);
	va_end(ap);
	strcat(words, "\n");
	gs_mps_control_program("nvidia-cuda-mps-control", program, sizeof(program));
	if (!program[0])
		return -ENOENT;
	r = run(argv, words, ASK_MS, ret, size, &status);
	if (r)
		return r;
	return status || strstr(ret, "Cannot find MPS control") ? -ESRCH : 0;
}

static size_t read_pids(char *text, pid_t *ret, size_t max)
{
	char *at = text, *line;
	size_t n = 0;

	while (n < max && (line = strsep(&at, "\n"))) {
		char *end;
		long v = strtol(line, &end, 10);

		if (end != line && v > 1)
			ret[n++] = (pid_t)v;
	}
	return n;
}

int gs_mps_control_server(pid_t *ret)
{
	char text[512];
	pid_t pids[1];
	int r = gs_mps_control_ask(text, sizeof(text), "get_server_list");

	if (!r)
		*ret = read_pids(text, pids, 1) ? pids[0] : 0;
	return r;
}

int gs_mps_control_clients(pid_t server, pid_t ret[GS_MPS_CLIENTS], size_t *ret_n)
{
	char text[4096];
	int r = gs_mps_control_ask(text, sizeof(text), "get_client_list %d", (int)server);

	if (!r)
		*ret_n = read_pids(text, ret, GS_MPS_CLIENTS);
	return r;
}

/* ---- the GPUs -------------------------------------------------------------------------------- */

/* Checks a line such as "GPU-uuid, Exclusive_Process, Disabled". */
static int check_line(const char *gpus, char *line, struct gs_error *err)
{
	char *uuid = strsep(&line, ","), *mode = strsep(&line, ","), *mig = line;

	if (!mode || !mig || !strstr(gpus, uuid))
		return 0;
	if (strcasestr(mode, "exclusive") || strcasestr(mode, "prohibited"))
		return gs_fail(err, -ENOTSUP,
			       "%s is in compute mode%s: a pool needs 'nvidia-smi -c DEFAULT', "
			       "else its server is alone on the GPU",
			       uuid, mode);
	if (strcasestr(mig, "enabled"))
		return gs_fail(err, -ENOTSUP, "%s is divided by MIG: pools do not work there",
			       uuid);
	return 0;
}

int gs_mps_control_check_gpus(const char *gpus, struct gs_error *err)
{
	char program[PATH_MAX], text[4096], *at = text, *line;
	char *argv[] = { program, "--query-gpu=uuid,compute_mode,mig.mode.current",
			 "--format=csv,noheader", NULL };
	int status = 0, r = 0;

	gs_mps_control_program("nvidia-smi", program, sizeof(program));
	if (!program[0] || run(argv, NULL, SMI_MS, text, sizeof(text), &status) || status)
		return 0;
	while (!r && (line = strsep(&at, "\n")))
		r = check_line(gpus, line, err);
	return r;
}
