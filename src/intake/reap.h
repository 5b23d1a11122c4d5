/* SPDX-License-Identifier: MIT */
/*
 * reap.h - ends the records of files that no process holds any more
 */
#ifndef GPUSCHED_INTAKE_REAP_H
#define GPUSCHED_INTAKE_REAP_H

#include <stdbool.h>

#include "basic/clock.h"

struct gpusched_tsg;
struct gs_intake;

/* The sweep that is under way: a task looks for holders, the loop reports the ends. */
struct gs_sweep_task;
struct gs_reap {
	struct gs_sweep_task *task; /* NULL: none is under way */
	bool again;                 /* another sweep was asked for meanwhile */
	uint64_t not_before_ns;     /* earliest time of the next sweep */
};

/* Delay after an exit, since several processes often end together. */
#define GS_SWEEP_SOON_NS (5 * NS_PER_MS)
#define GS_SWEEP_MIN_NS NS_PER_S
/* Plans a sweep in @ns, unless an earlier sweep is planned. */
void gs_reap_in(struct gs_intake *in, uint64_t ns);
void gs_reap_sweep(struct gs_intake *in);
void gs_reap_end(struct gs_intake *in);
/* For the engine: RM denies the TSG, so its record ends. */
void gs_reap_denied(struct gs_intake *in, const struct gpusched_tsg *rec);

#endif /* GPUSCHED_INTAKE_REAP_H */
