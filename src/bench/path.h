/* SPDX-License-Identifier: MIT */
/* path.h - starts the programs of a cell, and reads what they report */
#ifndef GPUSCHED_BENCH_PATH_H
#define GPUSCHED_BENCH_PATH_H

#include <signal.h>

#include "bench/bench.h"
#include "bench/look.h"
#include "bench/spawn.h"
#include "gpusched/gpusched.h"

#define MAX_PROGRAMS 64

struct bench_path {
	char gsload[512], gpusched[512], gpuschedd[512], torch[512];
	double iterations; /* iterations of the load generator's loop per us */
	/* SMs of the whole GPU: an SM cap must not change a kernel's work */
	double multiprocessors;
	/* Holds the daemon's log and configuration, and the MPS servers' pipes. */
	char dir[300];
	char uuid[BENCH_GPUS][48]; /* UUIDs of the GPUs side by side; "": CUDA's first GPU */
	int log_fd;
};

/*
 * Starts a daemon without a policy, for callers that measure no cells. Call it after
 * bench_path_begin().
 */
int bench_path_daemon(const struct bench_run *run, struct bench_child *ret, struct gs_error *err);
/* Removes gpusched's taps and table, which outlive the daemon. */
int bench_path_forget(const struct bench_run *run, struct gs_error *err);

struct program {
	struct bench_child child;
	bool is_lc;
	unsigned int gpu;
	int out; /* memory file to which the program writes its output */
	const struct bench_program *what;
};

/*
 * Starts the program on @p's GPU @gpu. Uses `gpusched run` if the program has a class or a server.
 * @seed: for its arrivals.
 */
int bench_program_start(const struct bench_path *p, const struct bench_scheme *scheme,
			const struct bench_program *what, bool is_lc, unsigned int gpu,
			unsigned int seed, struct program *ret, struct gs_error *err);
/*
 * The name of the pool for programs on GPU @gpu: each GPU has its pool, since a pool has one set of
 * GPUs. "": the default name.
 */
void bench_program_pool_name(unsigned int gpu, char *ret, size_t size);
/* Waits until the program's load begins. -ENODATA: the program has ended instead; -ETIMEDOUT. */
int bench_program_ready(struct program *p, unsigned int timeout_ms);
/* Makes a gsload repeat its sequence of arrivals from the beginning. */
void bench_program_anew(const struct program *p);
/* After the program's end: adds its requests that ended between the two times to @cell. */
int bench_program_latencies(const struct program *p, uint64_t from_ns, uint64_t to_ns,
			    struct bench_cell *cell);
/* Kernels, or training steps, per second of real time between the two times. */
double bench_program_rate(const struct program *p, uint64_t from_ns, uint64_t to_ns);
void bench_program_free(struct program *p);

/* True if the scheme's policy runs, or if the scheme has none and none runs. */
bool bench_program_policy_runs(const struct bench_scheme *scheme, const json_t *stats);
/* Notes in @cell which settings were in force, and whether they are those of the scheme. */
void bench_program_in_force(struct bench_cell *cell, const struct program *all, size_t n,
			    const struct bench_look *after, const json_t *gpu);

#endif /* GPUSCHED_BENCH_PATH_H */
