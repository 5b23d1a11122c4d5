/* SPDX-License-Identifier: MIT */
/*
 * parked_time.h - the time that a process was parked, for the history and for sums
 *
 * It has no TSG then, so the ledger knows nothing of it: callers keep its names.
 */
#ifndef GPUSCHED_FIGURES_PARKED_TIME_H
#define GPUSCHED_FIGURES_PARKED_TIME_H

#include "history/history.h"

struct gs_figures;

/* Fills in its class, cgroup, pod and batch job. The caller has filled in the rest. */
void gs_parked_time_place(const struct gs_figures *fig, uint32_t class_id,
			  struct gs_history_who *who);
/* It was parked for @ns until now, and had memory of that GPU. */
void gs_parked_time_add(struct gs_figures *fig, const struct gs_history_who *who, uint32_t gpu,
			uint64_t ns);
/* It has ended, and had no TSG. */
void gs_parked_time_ended(struct gs_figures *fig, const struct gs_history_who *who);

#endif /* GPUSCHED_FIGURES_PARKED_TIME_H */
