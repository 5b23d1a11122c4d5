/* SPDX-License-Identifier: MIT */
/*
 * look.h - two looks at the GPUs, and what happened in between
 */
#ifndef GPUSCHED_LIB_LOOK_H
#define GPUSCHED_LIB_LOOK_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct gpusched;

/* The answers of the verbs `stats` and `list` (all TSGs). */
struct lib_look {
	json_t *stats, *tsgs;
};

/* 0, or a negative errno and gpusched_error(). */
int lib_look(struct gpusched *g, struct lib_look *ret);
/*
 * The look that the daemon had some 10 s before @now. Returns how long ago, in ms; 0: it has none,
 * nor has who runs without a daemon.
 */
uint64_t lib_look_ago(const struct lib_look *now, struct lib_look *ret);
void lib_look_free(struct lib_look *l);

/*
 * One object per GPU (span_ms in its own time, held_pct, lost_pct, open_pct, unknown_pct,
 * switches_per_s; lately: these of the last second or two, as far as the daemon has them; tsgs:
 * what each of its compute TSGs that is in both looks did). Figures that nobody knows are null.
 */
json_t *lib_look_gpus(const struct lib_look *a, const struct lib_look *b);

/*
 * A service whose time goes into waiting like this is harmed: twice as much as in its calm minutes,
 * and 10 points more. Both in % of its time on the GPU or waiting for it.
 */
bool lib_is_harmed(double wait_pct, double calm_pct);

#endif /* GPUSCHED_LIB_LOOK_H */
