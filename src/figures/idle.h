/* SPDX-License-Identifier: MIT */
/*
 * idle.h - since when a TSG has not worked, from its sums at two looks
 *
 * Pure. A TSG that stays loaded while no other comes holds the GPU and need not work: then the
 * driver's samples of how busy the engine was decide. Copies by a TSG of a copy engine do not
 * count.
 */
#ifndef GPUSCHED_FIGURES_IDLE_H
#define GPUSCHED_FIGURES_IDLE_H

#include <stdbool.h>
#include <stdint.h>

struct gs_turn_sums;

struct gs_idle {
	uint64_t since_ns; /* it has not worked since then, or longer; 0: it has, or nobody knows */
	uint64_t at_ns;    /* of the last look; 0: none */
	uint64_t starts, held_ns, alone_ns, worked_ns; /* then */
	bool known;
};

/* @t: its sums at @now_ns; NULL: not known. */
void gs_idle_look(struct gs_idle *i, const struct gs_turn_sums *t, uint64_t now_ns);

#endif /* GPUSCHED_FIGURES_IDLE_H */
