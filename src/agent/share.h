/* SPDX-License-Identifier: MIT */
/*
 * share.h - counts how much of the last second was used; pure
 *
 * Time is counted in pieces of 50 ms. The sum may be more than the real use, never less.
 */
#ifndef GPUSCHED_AGENT_SHARE_H
#define GPUSCHED_AGENT_SHARE_H

#include <stdint.h>

#define SHARE_PIECE_NS 50000000ull
#define SHARE_PIECES 21 /* a second's pieces, and the one under way */

struct share {
	uint64_t piece[SHARE_PIECES]; /* time used in each piece */
	uint64_t at;                  /* number of the newest piece */
};

static inline void share_turn(struct share *s, uint64_t now_ns)
{
	uint64_t at = now_ns / SHARE_PIECE_NS;

	for (unsigned int i = 0; s->at < at && i < SHARE_PIECES; i++)
		s->piece[++s->at % SHARE_PIECES] = 0;
	if (s->at < at)
		s->at = at;
}

/* Counts a use from @from_ns to @to_ns, all of it in the piece of @to_ns. */
static inline void share_use(struct share *s, uint64_t from_ns, uint64_t to_ns)
{
	share_turn(s, to_ns);
	s->piece[s->at % SHARE_PIECES] += to_ns - from_ns;
}

static inline uint64_t share_used(struct share *s, uint64_t now_ns)
{
	uint64_t sum = 0;

	share_turn(s, now_ns);
	for (unsigned int i = 0; i < SHARE_PIECES; i++)
		sum += s->piece[i];
	return sum;
}

#endif /* GPUSCHED_AGENT_SHARE_H */
