/* SPDX-License-Identifier: MIT */
/* spawn.h - child processes whose output is read line by line; they never outlive us */
#ifndef GPUSCHED_CLI_SPAWN_H
#define GPUSCHED_CLI_SPAWN_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "basic/error.h"

struct cli_child {
	pid_t pid; /* 0: none */
	int out;
	char buf[8192];
	size_t used;
	const char *name;
};
#define CLI_CHILD_NONE \
	{ \
		.pid = 0, .out = -1 \
	}

/* Starts argv (argv[0] as execvp wants it). @log_fd: its standard error, -1: ours. */
int cli_spawn(const char *const *argv, int log_fd, struct cli_child *ret, struct gs_error *err);
/* The same; its output goes to @out_fd. */
int cli_spawn_to(const char *const *argv, int out_fd, int log_fd, struct cli_child *ret,
		 struct gs_error *err);
/* The next line of its output without the newline. -ETIMEDOUT, -ENODATA at the end. */
int cli_child_line(struct cli_child *c, unsigned int timeout_ms, char *ret, size_t size);
/* Waits for its end: exit status or 128 + signal; -ETIMEDOUT. */
int cli_child_wait(struct cli_child *c, unsigned int timeout_ms);
/* SIGTERM, what it still says goes on to cli_child_line(); SIGKILL after 10 s. */
void cli_child_stop(struct cli_child *c);
void cli_child_free_(struct cli_child *c);
#define CLEANUP_CHILD __attribute__((cleanup(cli_child_free_)))

#endif /* GPUSCHED_CLI_SPAWN_H */
