/* SPDX-License-Identifier: MIT */
/*
 * calls.h - keeps statistics of the engine's calls
 */
#ifndef GPUSCHED_FIGURES_CALLS_H
#define GPUSCHED_FIGURES_CALLS_H

struct gs_engine_call;
struct gs_figures;
struct gs_process;

/* The observer's functions: for the engine's calls, for the end of a process. */
void gs_calls_called(void *self, const struct gs_engine_call *call);
void gs_calls_process_ended(void *self, struct gs_process *p);

#endif /* GPUSCHED_FIGURES_CALLS_H */
