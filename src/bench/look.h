/* SPDX-License-Identifier: MIT */
/*
 * look.h - reads the GPUs' figures before and after a measurement, and finds the difference
 *
 * The daemon's own windows (docs/api.md) would not do: they cannot begin and end at given times.
 */
#ifndef GPUSCHED_BENCH_LOOK_H
#define GPUSCHED_BENCH_LOOK_H

#include <jansson.h>

struct gpusched;

/* The answers of the verbs `stats` and `list` (all TSGs). */
struct bench_look {
	json_t *stats, *tsgs;
};

/* 0, or a negative errno and gpusched_error(). */
int bench_look(struct gpusched *g, struct bench_look *ret);
void bench_look_free(struct bench_look *l);

/*
 * One object per GPU: "gpu", "gpu_uuid", its rates, and "tsgs". "tsgs" has "pid" and rates of each
 * compute TSG that is in both looks.
 */
json_t *bench_look_gpus(const struct bench_look *a, const struct bench_look *b);

#endif /* GPUSCHED_BENCH_LOOK_H */
