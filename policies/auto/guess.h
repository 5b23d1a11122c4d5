/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * auto/guess.h - guesses whether a TSG without a class is lc or be, by how its turns end
 *
 * Pure: struct gpusched_facts goes in, struct guess comes out. Only turns that the slice ended, or
 * that ended while others waited, say something. A TSG that is alone has no such turns.
 */
#ifndef AUTO_GUESS_H
#define AUTO_GUESS_H

#include "costs.h"

/* So many looks in a row must agree before the guess changes. */
#define STEADY 10
#define LOOK_NS (250 * GS_MS)
#define LOOK_MAX_NS (2 * GS_S)

/* Roles of a TSG: by its class, or by a guess. */
enum role { NOTHING, LC, BE, OTHER };

/* The guess about one TSG; begins with zeroes. */
struct guess {
	/* the facts when the present look began; look_ns 0: no look has begun */
	gs_u64 look_ns, since_ns, held_ns, slice_ended, drained, returns;
	gs_u32 verdict; /* enum role: the current guess */
	gs_u32 leaning; /* enum role: the different result of the latest looks */
	gs_u32 looks;   /* number of looks in a row with that result */
	gs_u32 pad;
};

/*
 * Returns an opinion from the turns of one look: LC, BE, or NOTHING (none). Beside a launch-bound
 * service that counts as LC, BE slices are short, which makes the service return again and again.
 * So returns do not speak against a TSG that already counts as LC.
 */
GPUSCHED_INLINE gs_u32 guess_opinion(const struct guess *g, const struct gpusched_facts *f,
				     const struct costs *c, gs_u32 acting)
{
	gs_u64 span = f->as_of_ns - g->look_ns;
	gs_u64 cut = f->slice_ended - g->slice_ended, drained = f->drained - g->drained;
	gs_u64 held = f->held_ns - g->held_ns, returns = f->returns - g->returns;
	gs_u64 ended = cut + drained;
	/* an LC may first do work that piled up before the guess */
	int catches_up = acting && g->verdict == LC && costs_are_long(c, held, drained);

	/*
	 * BE: it has most of the GPU; or a good part of it and rarely drains; or a small part and
	 * never drains
	 */
	if (cut * 10 >= ended && held * 2 >= span)
		return BE;
	if (cut * 10 >= ended * 7 && held * 5 >= span)
		return BE;
	if (cut * 100 >= ended * 95 && held * 25 >= span)
		return BE;
	if (drained * 10 < ended * 9 || held * 10 > span * (catches_up ? 9 : 5))
		return NOTHING;
	/* with turns this long, the BE slice before each turn matters little */
	if (costs_are_long(c, held, drained))
		return LC;
	return returns * 4 <= drained * 3 || (acting && g->verdict == LC) ? LC : NOTHING;
}

GPUSCHED_INLINE void guess_begin(struct guess *g, const struct gpusched_facts *f)
{
	g->look_ns = f->as_of_ns;
	g->since_ns = f->since_ns;
	g->held_ns = f->held_ns;
	g->slice_ended = f->slice_ended;
	g->drained = f->drained;
	g->returns = f->returns;
}

/*
 * Looks at the TSG in a round. @acting: guesses are in effect on the runlist. Returns 1 if the
 * guess was LC or BE, and has now changed.
 */
GPUSCHED_INLINE int guess_look(struct guess *g, const struct gpusched_facts *f,
			       const struct costs *c, gs_u32 acting)
{
	gs_u64 span = f->as_of_ns - g->look_ns, ended;
	gs_u32 says, before = g->verdict;

	ended = f->slice_ended + f->drained - g->slice_ended - g->drained;
	if (!g->look_ns || g->since_ns != f->since_ns || span > 4 * LOOK_MAX_NS) {
		guess_begin(g, f);
		return 0;
	}
	if (span < LOOK_NS || (ended < 4 && span < LOOK_MAX_NS))
		return 0;
	says = ended < 4 ? g->verdict : guess_opinion(g, f, c, acting);
	guess_begin(g, f);
	if (says == g->verdict) {
		g->looks = 0;
		return 0;
	}
	g->looks = says == g->leaning ? g->looks + 1 : 1;
	g->leaning = says;
	if (g->looks < STEADY)
		return 0;
	g->verdict = says;
	g->looks = 0;
	return before != NOTHING;
}

#endif /* AUTO_GUESS_H */
