/* SPDX-License-Identifier: MIT */
/*
 * result.h - the cells of a bench that were measured, and the figures made from them
 */
#ifndef GPUSCHED_BENCH_RESULT_H
#define GPUSCHED_BENCH_RESULT_H

#include "bench/bench.h"

struct bench_result {
	struct bench_cell *cells;
	size_t n;
};
void bench_result_free(struct bench_result *r);
/* Takes what @cell has, in place of an earlier one of the same. */
int bench_result_add(struct bench_result *r, struct bench_cell *cell);
const struct bench_cell *bench_result_find(const struct bench_result *r,
					   const struct bench_load *load,
					   const struct bench_scheme *scheme, unsigned int block);

/* Driver, build, GPUs on the host: of every cell of this run. */
json_t *bench_where(const struct bench_run *run);
/* A line of the raw data, and back. -ENOENT: a line of another machine, mode, load or scheme. */
json_t *bench_cell_json(const struct bench_run *run, const struct bench_cell *cell);
int bench_cell_parse(const struct bench_run *run, const json_t *line, struct bench_cell *ret);

/* Fewer requests than these, in one block and in all, have no 99th percentile worth the name. */
#define BENCH_P99_EACH 100
#define BENCH_P99_ALL 500

/* A row of the table: a load under a scheme. */
struct bench_pick {
	const struct bench_load *load;
	const struct bench_scheme *scheme;
	unsigned int blocks; /* wanted; 0: it cannot be measured here */
	char absent[160];    /* why */
};
/* Into @dir: plot.gp and, where gnuplot is, latency of each load and share.svg. */
int bench_plot(const struct bench_run *run, const struct bench_result *r,
	       const struct bench_pick *picks, size_t n, const char *dir, struct gs_error *err);
/* The figures over all blocks. */
json_t *bench_row(const struct bench_run *run, const struct bench_result *r,
		  const struct bench_pick *pick);

#endif /* GPUSCHED_BENCH_RESULT_H */
