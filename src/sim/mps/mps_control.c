// SPDX-License-Identifier: MIT
/*
 * mps_control.c - stands in for nvidia-cuda-mps-control
 *
 * With -d or -f it is the daemon. Without an option it is the program that reads commands and sends
 * them to the daemon. Commands and answers are those of the real program, as far as we use them.
 *
 * $GPUSCHED_SIM_MPS chooses a variant. "old" lacks the commands terminate_client, get_server_status
 * and start_server. In "wide", lists have a header and more columns. In "crowd", there are 60 more
 * clients.
 */
#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sim/cuda/mps_wire.h"

static const char *dir;
static pid_t server;
static double percentage = 100;

static void nap(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = 20000000 }, NULL);
}

/* ---- the daemon ------------------------------------------------------------------------------ */

static void reap(void)
{
	if (server && waitpid(server, NULL, WNOHANG) == server)
		server = 0;
}

static int ask_server(struct mps_message *m)
{
	int sock = mps_socket(dir, "server", 0), r;

	if (sock < 0)
		return -1;
	r = mps_send(sock, m, -1) || mps_receive(sock, m, NULL) ? -1 : 0;
	close(sock);
	return r;
}

static void start_server(void)
{
	struct mps_message m = { .op = MPS_TEXT, .text = "get_server_status" };
	char path[PATH_MAX] = "", file[PATH_MAX + 32];

	reap();
	if (server)
		return;
	if (readlink("/proc/self/exe", path, sizeof(path) - 1) < 0)
		return;
	snprintf(file, sizeof(file), "%s/nvidia-cuda-mps-server", dirname(path));
	server = fork();
	if (!server) {
		execl(file, file, NULL);
		_exit(127);
	}
	for (int i = 0; i < 500 && server && ask_server(&m); i++) {
		nap();
		reap();
	}
}

static void end_server(int sig)
{
	struct mps_message m = { .op = MPS_TEXT, .text = "quit" };

	reap();
	if (!server)
		return;
	if (sig)
		kill(server, sig);
	else
		ask_server(&m);
	waitpid(server, NULL, 0);
	server = 0;
}

static void dress(char *text, size_t size, const char *version)
{
	char plain[1024], *at = plain, *line;
	size_t n = 0;

	snprintf(plain, sizeof(plain), "%s", text);
	if (!strcmp(version, "wide"))
		n = (size_t)snprintf(text, size, "PID\tID\tNAMESPACE\n");
	while (!strcmp(version, "wide") && (line = strsep(&at, "\n")) && *line)
		n += (size_t)snprintf(text + n, size - n, " %s\t0\t4026531836\n", line);
	n = strlen(text);
	for (int i = 0; !strcmp(version, "crowd") && i < 60; i++)
		n += (size_t)snprintf(text + n, size - n, "%d\n", 100000000 + i);
}

static void command(struct mps_message *m)
{
	const char *version = getenv("GPUSCHED_SIM_MPS");
	bool old = version && !strcmp(version, "old");
	char text[sizeof(m->text)];
	int pid, client;

	memcpy(text, m->text, sizeof(text));
	m->text[0] = '\0';
	reap();
	if (!strcmp(text, "client")) {
		start_server();
	} else if (!strcmp(text, "get_server_list")) {
		if (server)
			snprintf(m->text, sizeof(m->text), "%d\n", (int)server);
	} else if (sscanf(text, "get_client_list %d", &pid) == 1 && pid == server && server) {
		strcpy(m->text, "get_client_list");
		ask_server(m);
		dress(m->text, sizeof(m->text), version ? version : "");
	} else if (!strcmp(text, "get_default_active_thread_percentage")) {
		snprintf(m->text, sizeof(m->text), "%.1f\n", percentage);
	} else if (sscanf(text, "set_default_active_thread_percentage %lf", &percentage) == 1) {
		snprintf(m->text, sizeof(m->text), "%.1f\n", percentage);
	} else if (!old && sscanf(text, "start_server -uid %d", &pid) == 1) {
		start_server();
	} else if (!old && sscanf(text, "get_server_status %d", &pid) == 1 && server) {
		strcpy(m->text, "get_server_status");
		ask_server(m);
	} else if (!old && sscanf(text, "terminate_client %d %d", &pid, &client) == 2 && server) {
		snprintf(m->text, sizeof(m->text), "terminate_client %d", client);
		ask_server(m);
	} else if (sscanf(text, "shutdown_server %d", &pid) == 1 && pid == server) {
		end_server(SIGKILL);
	} else if (!strncmp(text, "quit", 4)) {
		end_server(0);
	} else {
		snprintf(m->text, sizeof(m->text), "Unrecognized command: %.900s\n", text);
	}
}

/* Runs the daemon. With -d it goes to the background once it accepts requests. */
static int run_daemon(bool background)
{
	int at = mps_socket(dir, "control", 0);

	if (at >= 0) {
		fprintf(stderr, "An instance of this daemon is already running\n");
		return 1;
	}
	at = mps_socket(dir, "control", 1);
	if (at < 0) {
		fprintf(stderr, "Cannot create pipes in %s: %s\n", dir, strerror(errno));
		return 1;
	}
	if (background && fork())
		_exit(0);
	if (background)
		setsid();
	for (;;) {
		int sock = accept(at, NULL, NULL);
		struct mps_message m;
		bool quit;

		if (sock < 0 || mps_receive(sock, &m, NULL)) {
			close(sock);
			continue;
		}
		quit = !strncmp(m.text, "quit", 4);
		command(&m);
		mps_send(sock, &m, -1);
		close(sock);
		if (quit)
			return 0;
	}
}

/* ---- the program ----------------------------------------------------------------------------- */

static int ask_daemon(const char *line)
{
	struct mps_message m = { .op = MPS_TEXT, .pid = getpid() };
	int sock = mps_socket(dir, "control", 0);

	if (sock < 0) {
		printf("Cannot find MPS control daemon process\n");
		return 1;
	}
	snprintf(m.text, sizeof(m.text), "%s", line);
	if (!mps_send(sock, &m, -1) && !mps_receive(sock, &m, NULL))
		fputs(m.text, stdout);
	close(sock);
	return 0;
}

int main(int argc, char **argv)
{
	char line[1000];
	int r = 0;

	dir = getenv("CUDA_MPS_PIPE_DIRECTORY");
	dir = dir && *dir ? dir : MPS_DEFAULT_DIR;
	if (argc > 1)
		return run_daemon(!strcmp(argv[1], "-d"));
	while (!r && fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		r = ask_daemon(line);
	}
	return r;
}
