/* SPDX-License-Identifier: MIT */
/* clients.h - reads the clients of a load from a workload of DISB */
#ifndef GPUSCHED_BENCH_CLIENTS_H
#define GPUSCHED_BENCH_CLIENTS_H

#include "basic/arrivals.h"
#include "bench/bench.h"

#define BENCH_CLIENTS_MAX 32u /* of one load */

struct bench_clients {
	struct bench_program lc[BENCH_CLIENTS_MAX], be[BENCH_CLIENTS_MAX];
	unsigned int nlc, nbe;
	/* memory for the paths of their traces */
	char arrivals[BENCH_CLIENTS_MAX][64];
	struct gs_arrivals all;     /* the arrivals of all traces, in no order */
	char sha256[GS_SHA256_LEN]; /* of the file */
};

/*
 * Fills @to, which is zeroed and stays where it is: the programs point into it. Errors name @path
 * and the task. The caller frees @to's arrivals, after an error too.
 */
int bench_clients_read(const char *path, struct bench_clients *to, struct gs_error *err);

/*
 * Writes a trace into a memory file for gsload and the model. The file is open until the program
 * ends.
 */
int bench_clients_put_trace(const struct gs_arrivals *t, char *ret, size_t size,
			    struct gs_error *err);

#endif /* GPUSCHED_BENCH_CLIENTS_H */
