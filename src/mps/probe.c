// SPDX-License-Identifier: MIT
/*
 * probe.c - tests whether the server still accepts clients
 *
 * In a damaged server that looks healthy, new clients hang while they initialize CUDA. So a small
 * CUDA program, the probe, is run in the server first.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "basic/beside.h"
#include "basic/cleanup.h"
#include "basic/clock.h"
#include "mps/pool.h"

#define PROBE_NS (10 * NS_PER_S) /* CUDA's initialization takes up to 3 s on a busy machine */

static void run_probe(char *program)
{
	char *argv[] = { program,    "be",          "--count",
			 "1",        "--kernel-us", "1",
			 "--warmup", "0",           "--iterations-per-us",
			 "1",        NULL };
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	gs_mps_control_exec(argv, null, null);
}

static void probe_start(struct gs_mps_pool *p)
{
	char program[PATH_MAX];

	p->suspect = p->tainted = false;
	p->probed_ns = gs_now_ns();
	if (!gs_beside("gsload", program, sizeof(program)))
		gs_mps_control_program("gsload", program, sizeof(program));
	if (p->probe || !p->server)
		return;
	if (!program[0]) {
		gs_mps_say(p, "a program failed, and whether the MPS server still takes new ones "
			      "cannot be found out: gsload is not installed");
		return;
	}
	p->probe = fork();
	if (!p->probe)
		run_probe(program);
	if (p->probe < 0)
		p->probe = 0;
	gs_mps_server_tell(p); /* at once: the daemon must know the probe before it has a TSG */
	p->probe_until_ns = gs_now_ns() + PROBE_NS;
}

void gs_mps_probe_end(struct gs_mps_pool *p)
{
	if (!p->probe)
		return;
	kill(p->probe, SIGKILL);
	waitpid(p->probe, NULL, 0);
	p->probe = 0;
}

void gs_mps_probe_look(struct gs_mps_pool *p)
{
	int status = 0;
	pid_t ended;

	if (p->suspect)
		probe_start(p);
	if (!p->probe)
		return;
	ended = waitpid(p->probe, &status, WNOHANG);
	if (!ended && gs_now_ns() < p->probe_until_ns)
		return;
	if (ended == p->probe)
		p->probe = 0;
	if (ended > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return;
	gs_mps_say(
		p,
		"the MPS server %d takes no new program since one of its programs failed: it is "
		"ended, and a new one starts with the next program. Programs still in it fail now",
		(int)p->server);
	gs_mps_server_end(p);
}
