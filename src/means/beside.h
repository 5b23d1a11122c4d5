/* SPDX-License-Identifier: MIT */
/*
 * beside.h - finds how long a service works at a time, as a program beside it has to know
 *
 * Pure. In a shared server each kernel of a service waits for a thread block of the programs beside
 * it. A long turn may have many kernels, and so may a CUDA graph.
 */
#ifndef GPUSCHED_MEANS_BESIDE_H
#define GPUSCHED_MEANS_BESIDE_H

#include <stdbool.h>
#include <stdint.h>

/* What a service did in a window of some seconds. */
struct gs_service_window {
	uint64_t turns, work_ns; /* by the GPU's log; work_ns: loaded, and not known to be idle */
	/*
	 * Best effort is suspended during requests, so the log does not show the length of turns.
	 */
	bool holds;
	uint64_t policy_turn_us; /* mean turn, as the policy knows it; 0: not known */
	uint64_t span_ns;        /* the window's length */
	/*
	 * An agent counted @launches and @graphs. It reports them once in a while: @told_ns is the
	 * time between the last reports before the window's beginning and its end.
	 */
	bool told;
	uint64_t told_ns;
	uint64_t launches, graphs; /* @graphs: those of CUDA graphs, which @launches includes */
};

struct gs_service_work {
	/* mean work per launch if an agent counts launches, else mean turn; 0: unknown */
	uint32_t us;
	bool graphs; /* it launches CUDA graphs; false without @told: not known */
	bool told;   /* by an agent's counts */
};

/* False if the window shows too little. */
bool gs_means_beside_work(const struct gs_service_window *w, struct gs_service_work *ret);

#endif /* GPUSCHED_MEANS_BESIDE_H */
