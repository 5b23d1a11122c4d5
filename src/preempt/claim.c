// SPDX-License-Identifier: MIT
/*
 * claim.c - passes claims of the GPU from the board to the core, and from the core to the board
 */
#include "preempt/priv.h"

void claim_hear(struct gpreempt *g, uint64_t now)
{
	struct board_others others = board_read(g->board, now);

	g->core.outside = others.priority;
	g->core.outside_ns = others.since_ns;
	g->core.outside_levels = others.levels;
}

/*
 * Writes this process's claim to the board. Work of the lowest priority makes no claim, since no
 * queue has to wait for it.
 */
void claim_tell(struct gpreempt *g, uint64_t now)
{
	uint64_t since = now;
	int priority = core_claim(&g->core, now, &since);
	uint32_t levels = 0;

	for (unsigned int i = 0; i < g->core.n; i++)
		levels |= 1u << g->core.queues[i]->priority;
	board_tell(g->board, levels, priority == GPREEMPT_LOW ? CORE_NONE : priority, since, now);
}
