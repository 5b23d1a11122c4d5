/* SPDX-License-Identifier: MIT */
/*
 * request_cost.h - counts what a service's requests took, and who had the GPU meanwhile
 *
 * A program tells when each request begins and ends. The log's turns tell which program was loaded,
 * itself or others. The rest of the request's time is neither's. Time without known turns is
 * unknown. The four parts add up to the time that the request took.
 *
 * Example: a request of 10 ms at 100 ms. Its program was loaded from 101 to 103 and from 107 to
 * 110, another one from 103 to 107. Itself 5, others 4, neither 1, unknown 0 ms.
 *
 * Pure: no clock, no I/O.
 */
#ifndef GPUSCHED_FIGURES_REQUEST_COST_H
#define GPUSCHED_FIGURES_REQUEST_COST_H

#include <stdint.h>
#include <stdio.h>

#include "figures/slo.h"

#define GS_COST_OCTAVE 16u /* bins of an octave, so that a bin's ends differ by 4.4 % */
#define GS_COST_BINS (23u * GS_COST_OCTAVE)
#define GS_COST_LEAST_NS 8192u /* the lower end of bin 0, which has all shorter requests too */

/* The parts of one request's time, in ns; they add up to @took. */
struct gs_request_parts {
	uint64_t took_ns, itself_ns, others_ns, neither_ns, unknown_ns;
};

struct gs_request_cost {
	uint64_t n;
	struct gs_request_parts sum;
	struct gs_slo_counts slo;      /* those for which their class had a time, whatever it was */
	struct gs_slo_of_time slo_now; /* those judged by the last time; of a process alone */
	uint32_t bins
		[GS_COST_BINS]; /* requests by the time that they took; the last: all longer ones */
};

void gs_request_cost_add(struct gs_request_cost *c, const struct gs_request_parts *p);
/* Adds all of @from. */
void gs_request_cost_join(struct gs_request_cost *c, const struct gs_request_cost *from);
/* Adds @from, if any, to *@to, which is made if there is something to add. */
void gs_request_cost_join_new(struct gs_request_cost **to, const struct gs_request_cost *from);
/*
 * The time that @percent (1 to 100) of the requests did not exceed: the middle of its bin. 0: there
 * are no requests.
 */
uint64_t gs_request_cost_ns(const struct gs_request_cost *c, unsigned int percent);
/* Number of requests that took less than @ns, to the nearest bin. */
uint64_t gs_request_cost_below(const struct gs_request_cost *c, uint64_t ns);
/* Print the lines of two metrics: the histogram, and the parts. */
void gs_request_cost_histogram(const struct gs_request_cost *c, const char *labels, FILE *f);
void gs_request_cost_parts(const struct gs_request_cost *c, const char *labels, FILE *f);

/* ---- the last turns -------------------------------------------------------------------------- */

#define GS_COST_TURNS 4096u /* some 2 s of a GPU that switches 2000 times a second */

struct gs_cost_turn {
	uint64_t start_ns, end_ns;
	uint32_t pid, gpu;
};

struct gs_cost_turns {
	struct gs_cost_turn at[GS_COST_TURNS];
	uint64_t n;        /* turns in all: turn i is at[i % GS_COST_TURNS] */
	uint64_t since_ns; /* all turns that ended later are there */
};

void gs_cost_turns_add(struct gs_cost_turns *t, const struct gs_cost_turn *turn);
/*
 * Splits the time from @begin_ns to @end_ns for a request of process @pid. @open: the turns that
 * have not ended. The GPU is the one on which the process was loaded longest in that time. If it
 * was loaded on none, it is @gpu.
 */
void gs_request_split(const struct gs_cost_turns *t, const struct gs_cost_turn *open,
		      unsigned int n, uint32_t pid, uint32_t gpu, uint64_t begin_ns,
		      uint64_t end_ns, struct gs_request_parts *ret);

#endif /* GPUSCHED_FIGURES_REQUEST_COST_H */
