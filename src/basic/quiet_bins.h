/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * quiet_bins.h - counts a service's rests by their length, for quiet.h; for BPF programs too
 */
#ifndef GPUSCHED_BASIC_QUIET_BINS_H
#define GPUSCHED_BASIC_QUIET_BINS_H

#define GS_QUIET_LEAST_US 1000u
#define GS_QUIET_MOST_US 10000u

/*
 * Bins of rests by length, GS_QUIET_OCTAVE to an octave (a power of 2), from GS_QUIET_FIRST_US on.
 */
#define GS_QUIET_BINS 32u
#define GS_QUIET_OCTAVE 4u
#define GS_QUIET_FIRST_US 125u
/* what one rest adds to its bin: more than 1, so that halving keeps it */
#define GS_QUIET_ONE 16u
#define GS_QUIET_MEMORY 16384u /* number of rests at which all counts are halved */
#define GS_QUIET_RECENT 1024u  /* as many rests are kept in order; a power of 2 */

struct gs_quiet {
	unsigned int bins[GS_QUIET_BINS];
	unsigned int n;
	unsigned int seen;                     /* number of rests so far */
	unsigned char recent[GS_QUIET_RECENT]; /* bins of the last of them, rest i at i % that */
};

/* The lower end of part @k of an octave, in thousandths of the octave's lower end. */
static inline __attribute__((always_inline)) unsigned int gs_quiet_step(unsigned int k)
{
	return k == 0 ? 1000u : k == 1 ? 1189u : k == 2 ? 1414u : 1682u;
}

static inline __attribute__((always_inline)) unsigned int gs_quiet_bin(unsigned long long rest_ns)
{
	unsigned long long us = rest_ns / 1000, octave = GS_QUIET_FIRST_US;
	unsigned int bin = 0, k;

	if (us < GS_QUIET_FIRST_US)
		return 0;
	for (k = 0; k < GS_QUIET_BINS / GS_QUIET_OCTAVE - 1 && octave * 2 <= us; k++) {
		octave *= 2;
		bin += GS_QUIET_OCTAVE;
	}
	for (k = GS_QUIET_OCTAVE - 1; k; k--)
		if (us * 1000 >= octave * gs_quiet_step(k))
			return bin + k;
	return bin;
}

static inline __attribute__((always_inline)) void gs_quiet_add(struct gs_quiet *q,
							       unsigned long long rest_ns)
{
	unsigned int bin = gs_quiet_bin(rest_ns) & (GS_QUIET_BINS - 1), i;

	q->bins[bin] += GS_QUIET_ONE;
	q->recent[q->seen++ & (GS_QUIET_RECENT - 1)] = (unsigned char)bin;
	if (++q->n < GS_QUIET_MEMORY)
		return;
	q->n /= 2;
	for (i = 0; i < GS_QUIET_BINS; i++)
		q->bins[i] /= 2;
}

#endif /* GPUSCHED_BASIC_QUIET_BINS_H */
