// SPDX-License-Identifier: MIT
/*
 * run_pool.c - runs CMD in a pool or shared server: `gpusched run --pool` and `--share`
 *
 * This process stays CMD's parent. Before CMD is killed, its work is taken off the GPU, so that the
 * MPS server's other clients survive.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/parse.h"
#include "cli/cli.h"
#include "mps/join.h"
#include "mps/link.h"

#define ASK_MS 3000 /* longest wait for the supervisor, at a signal or at the end */

static const int forwarded[] = { SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2 };

static void say(const char *text)
{
	fprintf(stderr, "gpusched: run: %s\n", text);
}

/* Prints which server CMD joins, and what that means for it. */
static void tell(const struct gs_mps_place *p, const struct gs_mps_joined *j)
{
	char server[80] = "that starts with it";

	if (j->server)
		snprintf(server, sizeof(server), "%d, class %s", j->server, j->server_class);
	fprintf(stderr,
		"gpusched: run: in %s %s (MPS server %s). No time slices between its programs, "
		"and one that fails can make all of them fail: see gpusched-run(8)\n",
		gs_mps_place_kind(p), p->name, server);
}

static sigset_t signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	for (size_t i = 0; i < GS_COUNT(forwarded); i++)
		sigaddset(&set, forwarded[i]);
	return set;
}

/* True if the program handles the signal: then it may still need the GPU for an orderly end. */
static bool handles(pid_t pid, int sig)
{
	unsigned long long caught = 0;
	char path[32], line[256];
	CLEANUP_FILE FILE *f = NULL;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "SigCgt: %llx", &caught) == 1)
			return caught >> (sig - 1) & 1;
	return false;
}

/* Sends a message and waits for the answer. Prints messages that come before it. */
static void ask(int sock, enum gs_mps_op op, int number)
{
	struct gs_mps_message m = { .op = op, .number = number };
	uint64_t until = gs_now_ns() + ASK_MS * NS_PER_MS, now;

	if (gs_mps_link_send(sock, &m))
		return;
	while ((now = gs_now_ns()) < until &&
	       !gs_mps_link_receive(sock, &m, (int)((until - now) / NS_PER_MS) + 1)) {
		if (m.op == GS_MPS_DONE)
			return;
		if (m.op == GS_MPS_SAY)
			say(m.text);
	}
}

/*
 * Passes a signal on to CMD, except a signal from the terminal: CMD is in the same process group,
 * and has got it already.
 */
static void forward(int sock, pid_t pid, const struct signalfd_siginfo *si)
{
	int sig = (int)si->ssi_signo;

	if (si->ssi_code == SI_KERNEL)
		return;
	if (sig != SIGUSR1 && sig != SIGUSR2 && !handles(pid, sig))
		/* before CMD dies, the server takes its work off the GPU */
		ask(sock, GS_MPS_STOP, 0);
	kill(pid, sig);
}

/* Reaps children: descendants of CMD that lose their parents become ours. True if CMD has ended. */
static bool has_ended(pid_t pid, int *ret_status)
{
	int status;
	pid_t ended;

	while ((ended = waitpid(-1, &status, WNOHANG)) > 0)
		if (ended == pid) {
			*ret_status = status;
			return true;
		}
	return ended < 0 && errno == ECHILD;
}

static int watch(int sock, int sigs, pid_t pid)
{
	struct gs_mps_message m;
	int status = 0;

	while (!has_ended(pid, &status)) {
		struct pollfd f[2] = { { .fd = sigs, .events = POLLIN },
				       { .fd = sock, .events = POLLIN } };
		struct signalfd_siginfo si;

		if (poll(f, 2, -1) < 0)
			continue;
		if (f[0].revents && read(sigs, &si, sizeof(si)) == sizeof(si) &&
		    si.ssi_signo != SIGCHLD)
			forward(sock, pid, &si);
		if (!f[1].revents)
			continue;
		if (gs_mps_link_receive(sock, &m, 0)) {
			say("the pool's supervisor has ended, and its MPS server with it");
			sock = -1;
		} else if (m.op == GS_MPS_SAY) {
			say(m.text);
		}
	}
	ask(sock, GS_MPS_LEFT, status);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int cli_run_beside(const struct cli *c, int sock)
{
	struct gs_mps_message m = { .op = GS_MPS_STARTED };
	sigset_t set = signals(), before;
	CLEANUP_FD int sigs = -1;
	pid_t pid;

	prctl(PR_SET_CHILD_SUBREAPER, 1);
	sigprocmask(SIG_BLOCK, &set, &before);
	sigs = signalfd(-1, &set, SFD_CLOEXEC);
	pid = sigs < 0 ? -1 : fork();
	if (!pid) {
		sigprocmask(SIG_SETMASK, &before, NULL);
		_exit(cli_run_exec(c->argv));
	}
	if (pid < 0)
		return cli_fail(-errno, "run: no new process: %s", strerror(errno));
	m.pid = pid;
	gs_mps_link_send(sock, &m);
	return watch(sock, sigs, pid);
}

int cli_run_join(const char *name, bool share, const char *sm, const char *class_name,
		 int *ret_sock, struct gs_error *err)
{
	struct gs_mps_place place;
	struct gs_mps_joined joined;
	struct gs_error why = { 0 };
	uint64_t percent = 0;
	int r = 0;

	if (sm && gs_parse_u64(sm, 1, 100, &percent, &why))
		return gs_fail(err, -EINVAL, "run: --sm: %.480s", why.text);
	r = gs_mps_place(name, share, &place, &why);
	if (!r)
		r = gs_mps_join(&place, class_name, (unsigned int)percent, &joined, &why);
	if (r)
		return gs_fail(err, r, "run: %.480s", why.text);
	tell(&place, &joined);
	*ret_sock = joined.sock;
	return 0;
}
