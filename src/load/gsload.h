/* SPDX-License-Identifier: MIT */
/*
 * gsload.h - what the load generator was asked to do, and what came out
 */
#ifndef GPUSCHED_LOAD_GSLOAD_H
#define GPUSCHED_LOAD_GSLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "load/gsload_cuda.h"

enum gsload_mode { GSLOAD_LC, GSLOAD_BE, GSLOAD_CAL };
enum gsload_arrivals { GSLOAD_POISSON, GSLOAD_PERIODIC, GSLOAD_CLOSED };

#define GSLOAD_MAX_GPUS 16

struct gsload_options {
	enum gsload_mode mode;
	uint64_t gpu, gpus, contexts, seed, kernels, tokens, burst, in_flight, count;
	uint64_t multiprocessors; /* 0: as CUDA says */
	uint64_t allocate_mib;
	double kernel_us, block_us, fill_pct, period_us, cv, gap_us, lead_us, seconds, warmup,
		delay, linger;
	double iterations_per_us; /* 0: calibrate first */
	enum gsload_arrivals arrivals;
	bool hold, hint, graph, memory, copy, ready, lines;
	double dilate; /* real seconds per simulated second */
};

static inline uint64_t gsload_real_ns(const struct gsload_options *o, double us)
{
	return (uint64_t)(us * 1e3 * o->dilate);
}

/* Everything in simulated us (equal to real us where dilate is 1). */
struct gsload_result {
	uint64_t launches;       /* calls of launch functions, calibration and warm-up included */
	uint64_t graph_launches; /* those of them that launched a graph */
	uint64_t n;              /* requests or kernels counted */
	double seconds;          /* that they took */
	/* LC, n of them, sorted */
	double *latency_us; /* the GPU's part */
	double *service_us; /* from the first launch on */
	double *late_us;  /* by so much later than it could it began, and what follows from that */
	double *token_us; /* LC with several tokens a request: ntokens of them, sorted */
	size_t ntokens;
	uint64_t from_ns; /* LC: the warm-up ends */
	double iterations_per_us;
	uint32_t iterations; /* of one thread of one block */
};

/* Set by SIGINT and SIGTERM: end in order and print what was measured. */
extern volatile int gsload_stop;

/* Iterations per us; not above 0: another program's work came between. */
double gsload_measure(struct gsload_cuda *c, const struct gsload_options *o,
		      struct gsload_result *r);
/* The given rate, else the last measured one, else measured now. Ends the program on failure. */
void gsload_calibrate(struct gsload_cuda *c, const struct gsload_options *o,
		      struct gsload_result *r);
/* @c: as many as o->gpus. */
void gsload_run_be(struct gsload_cuda *c, const struct gsload_options *o, struct gsload_result *r);
void gsload_run_lc(struct gsload_cuda *c, const struct gsload_options *o, struct gsload_result *r);

#endif /* GPUSCHED_LOAD_GSLOAD_H */
