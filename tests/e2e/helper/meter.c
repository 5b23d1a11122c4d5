// SPDX-License-Identifier: MIT
/* meter.c - measures how much an attack delays the daemon's heartbeat or a fork() */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "basic/clock.h"
#include "helper.h"
#include "table/cfg.h"

static volatile sig_atomic_t stop;

static void on_signal(int sig)
{
	(void)sig;
	stop = 1;
}

static void keep(uint64_t *longest, uint64_t ns)
{
	if (ns > *longest)
		*longest = ns;
}

static int tell(uint64_t longest)
{
	printf("%llu\n", (unsigned long long)(longest / NS_PER_MS));
	return 0;
}

int verb_beat(int nwords, char **words)
{
	struct sigaction on_term = { .sa_handler = on_signal };
	struct gs_table *t = NULL;
	struct gs_error err = { 0 };
	struct gpusched_cfg cfg;
	uint64_t longest = 0;

	sigaction(SIGTERM, &on_term, NULL);
	if (gs_table_open(&t, &err)) {
		fprintf(stderr, "helper: %s\n", err.text);
		return 1;
	}
	while (!stop) {
		if (!gs_table_cfg(t, &cfg) && cfg.heartbeat_ns && gs_now_ns() > cfg.heartbeat_ns)
			keep(&longest, gs_now_ns() - cfg.heartbeat_ns);
		usleep(20000);
	}
	gs_table_close(t);
	return tell(longest);
}

int verb_forks(int nwords, char **words)
{
	struct sigaction on_term = { .sa_handler = on_signal };
	uint64_t longest = 0;

	sigaction(SIGTERM, &on_term, NULL);
	while (!stop) {
		uint64_t from = gs_now_ns();
		pid_t child = fork();

		if (child < 0)
			die("fork");
		if (!child)
			_exit(0);
		waitpid(child, NULL, 0);
		keep(&longest, gs_now_ns() - from);
		usleep(20000);
	}
	return tell(longest);
}
