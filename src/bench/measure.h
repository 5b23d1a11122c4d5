/* SPDX-License-Identifier: MIT */
/* measure.h - all cells of a bench: in which order, until when, and the raw data of them */
#ifndef GPUSCHED_BENCH_MEASURE_H
#define GPUSCHED_BENCH_MEASURE_H

#include <stdio.h>

#include "bench/result.h"

struct bench_measure {
	struct bench_run run;
	struct bench_pick *picks; /* those of one load side by side */
	size_t npicks;
	struct bench_result result;
	const char *dir; /* NULL: nothing is kept */
	FILE *raw;
	uint64_t end_ns, longest_ns; /* of the whole; of one cell so far */
	bool resume;
	bool counted; /* as many blocks as were asked for, and no more for a figure left open */
	bool partly;  /* a cell failed, or there was no time for it */
	void (*tell)(const struct bench_cell *cell); /* may be NULL: a cell has been measured */
};

void bench_measure_free(struct bench_measure *b);
/* DIR/raw.jsonl; with resume what it has becomes part of the result. */
int bench_open_raw(struct bench_measure *b, struct gs_error *err);
/* -EINTR: it was told to stop; what was measured until then is in the result. */
int bench_measure(struct bench_measure *b, struct gs_error *err);

#endif /* GPUSCHED_BENCH_MEASURE_H */
