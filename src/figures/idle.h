/* SPDX-License-Identifier: MIT */
/*
 * idle.h - finds out since when a TSG has not worked, from its sums at two samples
 *
 * Pure. A TSG stays loaded until another one comes, so it may hold the GPU without working. In that
 * case the driver's samples tell how busy the engine was. Copies by a TSG of a copy engine do not
 * count.
 */
#ifndef GPUSCHED_FIGURES_IDLE_H
#define GPUSCHED_FIGURES_IDLE_H

#include <stdbool.h>
#include <stdint.h>

struct gs_turn_sums;

struct gs_idle {
	/*
	 * The TSG has not worked since this time, or for longer; 0: it has worked, or that is
	 * unknown.
	 */
	uint64_t since_ns;
	uint64_t at_ns;                                /* time of the last sample; 0: none */
	uint64_t starts, held_ns, alone_ns, worked_ns; /* the sums at that time */
	bool known;
};

/* @t: the TSG's sums at @now_ns; NULL: they are unknown. */
void gs_idle_look(struct gs_idle *i, const struct gs_turn_sums *t, uint64_t now_ns);

#endif /* GPUSCHED_FIGURES_IDLE_H */
