// SPDX-License-Identifier: MIT
/*
 * shell_reap.c - ends the processes that still run in a simulated world
 */
#include <ctype.h>
#include <dirent.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "process/process.h"
#include "sim/shell.h"

#define GRACE_ROUNDS 100
#define ROUND_US 10000

/*
 * Signals the children of this process, and returns their number. Orphans are children too, since
 * this process is a subreaper.
 */
static int signal_children(int except, int sig)
{
	CLEANUP_DIR DIR *proc = opendir("/proc");
	struct dirent *e;
	int n = 0;

	while (proc && (e = readdir(proc))) {
		int pid = atoi(e->d_name);

		if (!isdigit((unsigned char)e->d_name[0]) || pid == except ||
		    gs_process_parent(pid) != getpid())
			continue;
		n++;
		kill(pid, sig);
	}
	return n;
}

void sim_reap_all(int except)
{
	for (int i = 0; i < GRACE_ROUNDS + 50; i++) {
		int pid;

		if (!signal_children(except, i < GRACE_ROUNDS ? (i ? 0 : SIGTERM) : SIGKILL))
			return;
		usleep(ROUND_US);
		do {
			pid = waitpid(-1, NULL, WNOHANG);
			if (pid == except)
				except = -1;
		} while (pid > 0);
	}
}

/* True if @dir is mounted in the process's namespace, so the process is in that world. */
static bool lives_in(const char *pid, const char *dir)
{
	char path[64], mounted[80];
	CLEANUP_FREE char *line = NULL;
	CLEANUP_FILE FILE *f = NULL;
	size_t size = 0;

	snprintf(path, sizeof(path), "/proc/%.16s/mountinfo", pid);
	snprintf(mounted, sizeof(mounted), " %.60s ", dir);
	f = fopen(path, "re");
	while (f && getline(&line, &size, f) > 0)
		if (strstr(line, mounted))
			return true;
	return false;
}

static int kill_in(const char *dir, int except)
{
	CLEANUP_DIR DIR *proc = opendir("/proc");
	struct dirent *e;
	int n = 0;

	while (proc && (e = readdir(proc))) {
		int pid = atoi(e->d_name);

		if (!isdigit((unsigned char)e->d_name[0]) || pid == getpid() || pid == except ||
		    !lives_in(e->d_name, dir))
			continue;
		n++;
		kill(pid, SIGKILL);
	}
	return n;
}

void sim_reap_world(const char *dir, int except)
{
	for (int i = 0; i < GRACE_ROUNDS && kill_in(dir, except); i++) {
		usleep(ROUND_US);
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
	}
}
