// SPDX-License-Identifier: MIT
#include "basic/quiet.h"

#include <stdbool.h>

#include "basic/clock.h"

#define OCTAVE 4u
#define FIRST_US 125u
#define LEAST_BIN (3 * OCTAVE) /* GS_QUIET_LEAST_US */
#define MOST_BIN (6 * OCTAVE + 1)
#define ONE 16u       /* weight of one rest: more than 1, so that old rests can fade */
#define MEMORY 16384u /* after so many rests, all that are counted count half */
#define ENOUGH 16u    /* with fewer rests nothing is known */
/* one rest, and this part (one in so many) of the longer ones, may be near the value */
#define NEAR_PART 8u
/* a longer value must leave so many times fewer requests */
#define WORTH 4u

static unsigned int bin_of(uint64_t rest_ns)
{
	/* 2 to the power of k / OCTAVE, in thousandths */
	static const uint32_t steps[OCTAVE] = { 1000, 1189, 1414, 1682 };
	uint64_t us = rest_ns / NS_PER_US, octave = FIRST_US;
	unsigned int bin = 0;

	if (us < FIRST_US)
		return 0;
	while (octave * 2 <= us && bin + OCTAVE < GS_QUIET_BINS) {
		octave *= 2;
		bin += OCTAVE;
	}
	for (unsigned int k = OCTAVE; --k;)
		if (us * 1000 >= octave * steps[k])
			return bin + k;
	return bin;
}

static uint32_t us_of(unsigned int bin)
{
	static const uint32_t steps[OCTAVE] = { 1000, 1189, 1414, 1682 };

	return (FIRST_US << bin / OCTAVE) * steps[bin % OCTAVE] / 1000;
}

void gs_quiet_rest(struct gs_quiet *q, uint64_t rest_ns)
{
	q->bins[bin_of(rest_ns)] += ONE;
	if (++q->n < MEMORY)
		return;
	q->n /= 2;
	for (unsigned int i = 0; i < GS_QUIET_BINS; i++)
		q->bins[i] /= 2;
}

static uint32_t sum(const struct gs_quiet *q, unsigned int from, unsigned int until)
{
	uint32_t n = 0;

	for (unsigned int i = from; i < until && i < GS_QUIET_BINS; i++)
		n += q->bins[i];
	return n;
}

/*
 * True if hardly any rest is within an octave of @bin's length. With many such rests, some would be
 * taken for the other kind.
 */
static bool splits(const struct gs_quiet *q, unsigned int bin, uint32_t longer)
{
	return sum(q, bin - OCTAVE, bin + OCTAVE) <= ONE + longer / NEAR_PART;
}

/*
 * The shortest length that splits the rests into two kinds, or a longer one that leaves far fewer
 * requests. There need not be a longer rest: if other programs keep a service from resting, it has
 * none yet.
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
