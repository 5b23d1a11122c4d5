// SPDX-License-Identifier: MIT
#include "basic/quiet.h"

#include <stdbool.h>

#include "basic/clock.h"

#define OCTAVE GS_QUIET_OCTAVE
#define ONE GS_QUIET_ONE
#define LEAST_BIN (3 * OCTAVE) /* the bin of GS_QUIET_LEAST_US */
#define MOST_BIN (6 * OCTAVE + 1)
#define ENOUGH 16u /* fewer rests say nothing */
/* one in this many of the longer rests, plus one rest, may lie near the value */
#define NEAR_PART 8u
/* a longer value is better only if it finds this many times fewer requests */
#define WORTH 4u

static uint32_t us_of(unsigned int bin)
{
	return (GS_QUIET_FIRST_US << bin / OCTAVE) * gs_quiet_step(bin % OCTAVE) / 1000;
}

void gs_quiet_rest(struct gs_quiet *q, uint64_t rest_ns)
{
	gs_quiet_add(q, rest_ns);
}

static uint32_t sum(const struct gs_quiet *q, unsigned int from, unsigned int until)
{
	uint32_t n = 0;

	for (unsigned int i = from; i < until && i < GS_QUIET_BINS; i++)
		n += q->bins[i];
	return n;
}

/*
 * True if hardly any rest is within an octave of @bin's length. With many such rests, some within a
 * request would be taken for its end, or the reverse.
 */
static bool splits(const struct gs_quiet *q, unsigned int bin, uint32_t longer)
{
	return sum(q, bin - OCTAVE, bin + OCTAVE) <= ONE + longer / NEAR_PART;
}

/*
 * The shortest length that splits the rests into two kinds, or a longer one that leaves far fewer
 * requests. There need not be a longer rest: a service that other programs delay may never have
 * rested between requests.
 */
uint32_t gs_quiet_us(const struct gs_quiet *q)
{
	unsigned int best = 0;
	uint32_t ends = 0;

	if (q->n < ENOUGH)
		return 0;
	for (unsigned int bin = LEAST_BIN; bin <= MOST_BIN; bin++) {
		uint32_t longer = sum(q, bin, GS_QUIET_BINS);

		if (!splits(q, bin, longer) || (best && longer > ends / WORTH))
			continue;
		best = bin;
		ends = longer;
		if (!ends)
			break;
	}
	return best ? us_of(best) : 0;
}
