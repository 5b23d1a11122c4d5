/* SPDX-License-Identifier: MIT */
/* measure.h - measures all cells of a bench, in order, and keeps their raw data */
#ifndef GPUSCHED_BENCH_MEASURE_H
#define GPUSCHED_BENCH_MEASURE_H

#include <stdio.h>

#include "bench/result.h"

struct bench_measure {
	struct bench_run run;
	struct bench_pick *picks; /* rows of one load follow each other */
	size_t npicks;
	struct bench_result result;
	const char *dir; /* folder of the raw data; NULL: nothing is kept */
	FILE *raw;
	/* when the bench has to end; longest time of one cell so far */
	uint64_t end_ns, longest_ns;
	bool resume;
	bool counted; /* exactly as many blocks as were asked for, even if a figure is left open */
	bool partly;  /* a cell failed, or there was no time for it */
	/* May be NULL; called when a cell has been measured. */
	void (*tell)(const struct bench_cell *cell);
};

void bench_measure_free(struct bench_measure *b);
/* Opens DIR/raw.jsonl. To resume, takes its content into the result. */
int bench_measure_open_raw(struct bench_measure *b, struct gs_error *err);
/* -EINTR: somebody stopped it; the result has what was measured until then. */
int bench_measure(struct bench_measure *b, struct gs_error *err);

#endif /* GPUSCHED_BENCH_MEASURE_H */
