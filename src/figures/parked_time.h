/* SPDX-License-Identifier: MIT */
/*
 * parked_time.h - counts the time that a process was parked, for the history and for sums
 *
 * A parked process has no TSG, so the ledger knows nothing of it: the callers keep its names.
 */
#ifndef GPUSCHED_FIGURES_PARKED_TIME_H
#define GPUSCHED_FIGURES_PARKED_TIME_H

#include "history/history.h"

struct gs_figures;

/* Fills in the process's class, cgroup, pod and batch job. The caller has filled in the rest. */
void gs_parked_time_place(const struct gs_figures *fig, uint32_t class_id,
			  struct gs_history_who *who);
/* Adds the last @ns, in which the process was parked with memory of @gpu. */
void gs_parked_time_add(struct gs_figures *fig, const struct gs_history_who *who, uint32_t gpu,
			uint64_t ns);
/* The process has ended while it had no TSG. */
void gs_parked_time_ended(struct gs_figures *fig, const struct gs_history_who *who);

#endif /* GPUSCHED_FIGURES_PARKED_TIME_H */
