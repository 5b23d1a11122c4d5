/* SPDX-License-Identifier: MIT */
/*
 * calls.h - keeps statistics of the engine's calls
 */
#ifndef GPUSCHED_FIGURES_CALLS_H
#define GPUSCHED_FIGURES_CALLS_H

struct gs_engine_call;
struct gs_figures;

/* The observer's function for the engine's calls. */
void gs_calls_called(void *self, const struct gs_engine_call *call);

#endif /* GPUSCHED_FIGURES_CALLS_H */
