/* SPDX-License-Identifier: MIT */
/* measure.h - measures all cells of a bench: their order, the end, and their raw data */
#ifndef GPUSCHED_BENCH_MEASURE_H
#define GPUSCHED_BENCH_MEASURE_H

#include <stdio.h>

#include "bench/result.h"

struct bench_measure {
	struct bench_run run;
	struct bench_pick *picks; /* those of one load are side by side */
	size_t npicks;
	struct bench_result result;
	const char *dir; /* NULL: nothing is kept */
	FILE *raw;
	uint64_t end_ns, longest_ns; /* of the whole; longest time of one cell so far */
	bool resume;
	bool counted; /* exactly as many blocks as were asked for, even if a figure is left open */
	bool partly;  /* a cell failed, or there was no time for it */
	/* May be NULL; called when a cell has been measured. */
	void (*tell)(const struct bench_cell *cell);
};

void bench_measure_free(struct bench_measure *b);
/* Opens DIR/raw.jsonl; with resume, its content becomes part of the result. */
int bench_open_raw(struct bench_measure *b, struct gs_error *err);
/* -EINTR: it was told to stop; what was measured until then is in the result. */
int bench_measure(struct bench_measure *b, struct gs_error *err);

#endif /* GPUSCHED_BENCH_MEASURE_H */
