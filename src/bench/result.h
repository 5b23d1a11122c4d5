/* SPDX-License-Identifier: MIT */
/*
 * result.h - keeps the measured cells of a bench, and makes figures from them
 */
#ifndef GPUSCHED_BENCH_RESULT_H
#define GPUSCHED_BENCH_RESULT_H

#include "bench/bench.h"

struct bench_result {
	struct bench_cell *cells;
	size_t n;
};
void bench_result_free(struct bench_result *r);
/* Adds @cell and takes its data. Replaces an earlier cell of the same load, scheme and block. */
int bench_result_add(struct bench_result *r, struct bench_cell *cell);
const struct bench_cell *bench_result_find(const struct bench_result *r,
					   const struct bench_load *load,
					   const struct bench_scheme *scheme, unsigned int block);

/* Driver, build and GPUs of the host: the same for every cell of this run. */
json_t *bench_result_where(const struct bench_run *run);
/*
 * Converts a cell to a line of the raw data, and back. -ENOENT: the line belongs to another
 * machine, mode, load or scheme.
 */
json_t *bench_result_cell_json(const struct bench_run *run, const struct bench_cell *cell);
int bench_result_cell_parse(const struct bench_run *run, const json_t *line,
			    struct bench_cell *ret);

/* A 99th percentile needs at least these numbers of requests, in each block and in all. */
#define BENCH_P99_EACH 100
#define BENCH_P99_ALL 500

/* A row of the table: a load under a scheme. */
struct bench_pick {
	const struct bench_load *load;
	const struct bench_scheme *scheme;
	unsigned int blocks; /* blocks wanted; 0: it cannot be measured here */
	char absent[160];    /* why it cannot be measured */
};
/* Writes plot.gp into @dir. If gnuplot is installed, draws each load's latency, and share.svg. */
int bench_plot(const struct bench_run *run, const struct bench_result *r,
	       const struct bench_pick *picks, size_t n, const char *dir, struct gs_error *err);
/* The figures of a row over all blocks. */
json_t *bench_result_row(const struct bench_run *run, const struct bench_result *r,
			 const struct bench_pick *pick);

#endif /* GPUSCHED_BENCH_RESULT_H */
