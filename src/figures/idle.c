// SPDX-License-Identifier: MIT
#include "figures/idle.h"

#include <stddef.h>

#include "account/turns.h"

/* work in less than 1/WORKED_PART of the time alone on the GPU counts as none */
#define WORKED_PART 100

/*
 * True if the TSG did no work between the samples. A turn begins only for work. If none began, the
 * TSG was loaded all the time or not at all. If it was loaded, the driver must have sampled the
 * engine as idle for most of that time.
 */
static bool has_rested(const struct gs_idle *i, const struct gs_turn_sums *t)
{
	uint64_t held = t->held_ns - i->held_ns, alone = t->alone_ns - i->alone_ns;

	if (t->turns + t->loaded != i->starts)
		return false;
	return !held || (alone >= held / 2 && (t->worked_ns - i->worked_ns) * WORKED_PART < alone);
}

/* True if the log was opened again since the last sample. */
static bool began_anew(const struct gs_idle *i, const struct gs_turn_sums *t)
{
	return t->turns + t->loaded < i->starts || t->held_ns < i->held_ns ||
	       t->alone_ns < i->alone_ns || t->worked_ns < i->worked_ns;
}

void gs_idle_look(struct gs_idle *i, const struct gs_turn_sums *t, uint64_t now_ns)
{
	bool rests = t && i->known && !began_anew(i, t) && has_rested(i, t);

	i->since_ns = !rests ? 0 : i->since_ns ? i->since_ns : i->at_ns;
	i->at_ns = now_ns;
	i->known = t != NULL;
	if (!t)
		return;
	i->starts = t->turns + t->loaded;
	i->held_ns = t->held_ns;
	i->alone_ns = t->alone_ns;
	i->worked_ns = t->worked_ns;
}
