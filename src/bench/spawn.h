/* SPDX-License-Identifier: MIT */
/* spawn.h - starts child processes that never outlive us, and reads their output by lines */
#ifndef GPUSCHED_BENCH_SPAWN_H
#define GPUSCHED_BENCH_SPAWN_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "basic/error.h"

struct bench_child {
	pid_t pid; /* 0: none */
	int out;
	char buf[8192];
	size_t used;
	const char *name;
};
#define BENCH_CHILD_NONE \
	{ \
		.pid = 0, .out = -1 \
	}

/* Starts argv (argv[0] as for execvp). @log_fd: its standard error, -1: ours. */
int bench_spawn(const char *const *argv, int log_fd, struct bench_child *ret, struct gs_error *err);
/* bench_spawn() with standard output @out_fd. */
int bench_spawn_to(const char *const *argv, int out_fd, int log_fd, struct bench_child *ret,
		   struct gs_error *err);
/* The next line of the child's output without the newline. -ETIMEDOUT, -ENODATA at the end. */
int bench_spawned_line(struct bench_child *c, unsigned int timeout_ms, char *ret, size_t size);
/* Waits for the child's end: exit status or 128 + signal; -ETIMEDOUT. */
int bench_spawned_wait(struct bench_child *c, unsigned int timeout_ms);
/* Sends SIGTERM, and SIGKILL after 10 s. Further output can be read by bench_spawned_line(). */
void bench_spawned_stop(struct bench_child *c);
void bench_spawned_free_(struct bench_child *c);
#define CLEANUP_CHILD __attribute__((cleanup(bench_spawned_free_)))

#endif /* GPUSCHED_BENCH_SPAWN_H */
