/* SPDX-License-Identifier: MIT */
/* given.h - adds a load that the user gives as a file */
#ifndef GPUSCHED_BENCH_GIVEN_H
#define GPUSCHED_BENCH_GIVEN_H

#include "basic/arrivals.h"
#include "bench/bench.h"

/* Where a load was read from. */
struct bench_given {
	char *path; /* as the user wrote it */
	char *file; /* absolute */
	char sha256[GS_SHA256_LEN];
	uint64_t last_ns;         /* the last arrival */
	struct gs_arrivals trace; /* of all clients; none: no client has a trace */
};

/* True if a load's name is a file: it has a slash, or ends in .csv or .json. */
bool bench_given_is_file(const char *name);
/* Adds the load of that file to bench_loads, under the file's name without its folders. */
int bench_given_add(const char *path, struct gs_error *err);
/* The part of a result that names the file; null for a load of ours. */
json_t *bench_given_json(const struct bench_load *load);
/* True if the line of a result is about this load, read from the same content. */
bool bench_given_same(const struct bench_load *load, const json_t *line);
/*
 * How many of the load's arrivals come within the window of a cell. *ret_s: the length of a window
 * that has all of them, in whole seconds.
 */
size_t bench_given_within(const struct bench_load *load, double seconds, double *ret_s);

#endif /* GPUSCHED_BENCH_GIVEN_H */
