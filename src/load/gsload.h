/* SPDX-License-Identifier: MIT */
/*
 * gsload.h - defines the options, results and functions of gsload, the load generator
 */
#ifndef GPUSCHED_LOAD_GSLOAD_H
#define GPUSCHED_LOAD_GSLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "basic/arrivals.h"
#include "load/gsload_cuda.h"

enum gsload_mode { GSLOAD_LC, GSLOAD_BE, GSLOAD_CAL };
enum gsload_arrivals { GSLOAD_POISSON, GSLOAD_PERIODIC, GSLOAD_CLOSED, GSLOAD_TRACE };

#define GSLOAD_MAX_GPUS 16

struct gsload_options {
	enum gsload_mode mode;
	uint64_t gpu, gpus, contexts, seed, kernels, tokens, burst, in_flight, count;
	uint64_t multiprocessors; /* 0: as many as CUDA reports */
	uint64_t allocate_mib;
	double kernel_us, block_us, fill_pct, period_us, cv, gap_us, lead_us, seconds, warmup,
		delay, linger;
	double iterations_per_us; /* 0: calibrate first */
	enum gsload_arrivals arrivals;
	struct gs_arrivals trace; /* with GSLOAD_TRACE */
	bool hold, hint, graph, memory, copy, ready, lines;
	double dilate; /* real seconds per simulated second; 1 on a real GPU */
};

static inline uint64_t gsload_real_ns(const struct gsload_options *o, double us)
{
	return (uint64_t)(us * 1e3 * o->dilate);
}

/* True if a request has several tokens, or as many as a trace says. */
static inline bool gsload_has_tokens(const struct gsload_options *o)
{
	return o->tokens > 1 || (o->arrivals == GSLOAD_TRACE && o->graph);
}

/* All times are in simulated us (equal to real us where dilate is 1). */
struct gsload_result {
	uint64_t launches;       /* calls of launch functions, including calibration and warm-up */
	uint64_t graph_launches; /* calls that launched a graph */
	uint64_t n;              /* number of requests or kernels after the warm-up */
	double seconds;          /* the time that these took */
	/* for LC: @n values, sorted; see gsload_latency_of() */
	double *latency_us; /* the GPU's part of the latency */
	double *service_us; /* from a request's first launch to its end */
	double *late_us;    /* the part of the latency that the generator itself caused */
	double *token_us;   /* LC with several tokens per request: @ntokens values, sorted */
	size_t ntokens;
	uint64_t from_ns; /* LC: end of the warm-up */
	double iterations_per_us;
	uint32_t iterations; /* iterations of each thread */
};

/* Set by SIGINT and SIGTERM: the load ends, and the results so far are printed. */
extern volatile int gsload_stop;

/* Measures iterations per us. A result of 0 or less: other work on the GPU disturbed this. */
double gsload_measure(struct gsload_cuda *c, const struct gsload_options *o,
		      struct gsload_result *r);
/*
 * Sets r->iterations_per_us: to the option's value, else to the last measured value, else to a new
 * measurement. Ends the program on failure.
 */
void gsload_calibrate(struct gsload_cuda *c, const struct gsload_options *o,
		      struct gsload_result *r);
/* @c: an array of o->gpus. */
void gsload_run_be(struct gsload_cuda *c, const struct gsload_options *o, struct gsload_result *r);
void gsload_run_lc(struct gsload_cuda *c, const struct gsload_options *o, struct gsload_result *r);

#endif /* GPUSCHED_LOAD_GSLOAD_H */
