// SPDX-License-Identifier: MIT
#include "basic/quiet.h"

#include <stdbool.h>

#include "basic/clock.h"

#define OCTAVE GS_QUIET_OCTAVE
#define ONE GS_QUIET_ONE
#define LEAST_BIN (3 * OCTAVE) /* the bin of GS_QUIET_LEAST_US */
#define MOST_BIN (6 * OCTAVE + 1)
#define LONG_BIN (7 * OCTAVE + 1) /* 19 ms: such a rest ends a request, whatever the length */
#define ENOUGH 16u                /* fewer rests say nothing */
/* one in this many of the longer rests, plus one rest, may lie near the value */
#define NEAR_PART 8u
/* a longer value is better only if it finds this many times fewer requests */
#define WORTH 4u
#define REQUESTS 2u       /* so many clear requests suffice */
#define REQUESTS_MOST 32u /* most that are looked at for what is true now */
#define LATEST 64u        /* the same in rests, if there are none of LONG_BIN */
#define DOUBT_FREE 3u     /* so many of the last rests near a value cast no doubt on it */
#define DOUBT_PART 2u     /* nor does one in so many of the longer ones */

/* longer[i]: how many rests are of bin i or longer, times ONE. */
struct rests {
	uint32_t longer[GS_QUIET_BINS + 1];
};

static uint32_t us_of(unsigned int bin)
{
	return (GS_QUIET_FIRST_US << bin / OCTAVE) * gs_quiet_step(bin % OCTAVE) / 1000;
}

void gs_quiet_rest(struct gs_quiet *q, uint64_t rest_ns)
{
	gs_quiet_add(q, rest_ns);
}

static void add_up(struct rests *r, const unsigned int *bins)
{
	r->longer[GS_QUIET_BINS] = 0;
	for (unsigned int i = GS_QUIET_BINS; i--;)
		r->longer[i] = r->longer[i + 1] + bins[i];
}

/* Number of rests within an octave of @bin's length, times ONE. */
static uint32_t near_to(const struct rests *r, unsigned int bin)
{
	return r->longer[bin - OCTAVE] - r->longer[bin + OCTAVE];
}

/*
 * The bin of the shortest length that splits the rests into two kinds, or of a longer one that
 * leaves far fewer requests; 0: none does. Near that length there are hardly any rests: no more
 * than @near, and one in NEAR_PART of the longer ones. With many such rests, some within a request
 * would be taken for its end, or the reverse. There need not be a longer rest: a service that other
 * programs delay may never have rested between requests.
 */
static unsigned int split(const struct rests *r, uint32_t near)
{
	unsigned int best = 0;
	uint32_t ends = 0;

	for (unsigned int bin = LEAST_BIN; bin <= MOST_BIN; bin++) {
		uint32_t longer = r->longer[bin];

		if (near_to(r, bin) > near + longer / NEAR_PART || (best && longer > ends / WORTH))
			continue;
		best = bin;
		ends = longer;
		if (!ends)
			break;
	}
	return best;
}

/*
 * Adds up the last rests: those of the last @requests requests that ended with a rest of LONG_BIN,
 * and of the present one; with 0, the last LATEST. False: there are not so many.
 */
static bool latest(const struct gs_quiet *q, unsigned int requests, struct rests *ret)
{
	unsigned int kept = q->seen < GS_QUIET_RECENT ? q->seen : GS_QUIET_RECENT, n, ends = 0;
	unsigned int bins[GS_QUIET_BINS] = { 0 };

	for (n = 0; n < kept; n++) {
		unsigned int bin = q->recent[(q->seen - 1 - n) % GS_QUIET_RECENT] % GS_QUIET_BINS;

		if (requests ? bin >= LONG_BIN && ends++ == requests : n == LATEST)
			break;
		bins[bin] += ONE;
	}
	add_up(ret, bins);
	return requests ? ends >= requests : n == LATEST;
}

/*
 * Splits by the last rests alone. Two requests suffice if no rest of theirs is in doubt; of more
 * requests a few may be.
 */
static unsigned int split_latest(const struct gs_quiet *q)
{
	struct rests r;
	unsigned int bin = 0;

	for (unsigned int n = REQUESTS; n <= REQUESTS_MOST && !bin; n *= 4)
		bin = latest(q, n, &r) ? split(&r, n == REQUESTS ? 0 : ONE) : 0;
	if (bin || !latest(q, 0, &r))
		return bin;
	bin = split(&r, ONE);
	return bin && r.longer[bin] >= REQUESTS * ONE ? bin : 0;
}

/*
 * True if the last rests overrule @bin, which was learned before: too many of them are near it, or
 * @now, which they give, leaves far fewer requests.
 */
static bool overruled(const struct gs_quiet *q, unsigned int bin, unsigned int now)
{
	struct rests r;

	if (!latest(q, REQUESTS + 1, &r) && !latest(q, 0, &r))
		return false;
	return near_to(&r, bin) > DOUBT_FREE * ONE + r.longer[bin] / DOUBT_PART ||
	       (now && r.longer[now] <= r.longer[bin] / WORTH);
}

uint32_t gs_quiet_us(const struct gs_quiet *q)
{
	unsigned int bin = 0, now = split_latest(q);
	struct rests r;

	if (q->n >= ENOUGH) {
		add_up(&r, q->bins);
		bin = split(&r, ONE);
	}
	if (!bin || overruled(q, bin, now))
		bin = now;
	return bin ? us_of(bin) : 0;
}
