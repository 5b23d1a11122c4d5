/* SPDX-License-Identifier: MIT */
/*
 * rng.h - makes random numbers that are the same on every machine for the same seed (splitmix64)
 */
#ifndef GPUSCHED_BASIC_RNG_H
#define GPUSCHED_BASIC_RNG_H

#include <math.h>
#include <stdint.h>

static inline uint64_t gs_rng_next(uint64_t *state)
{
	uint64_t z = (*state += 0x9e3779b97f4a7c15ull);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

/* A number in [0, 1). */
static inline double gs_rng_unit(uint64_t *state)
{
	return (double)(gs_rng_next(state) >> 11) * 0x1p-53;
}

static inline uint64_t gs_rng_range(uint64_t *state, uint64_t min, uint64_t max)
{
	return max > min ? min + gs_rng_next(state) % (max - min + 1) : min;
}

static inline double gs_rng_exp(uint64_t *state, double mean)
{
	return -log(1.0 - gs_rng_unit(state)) * mean;
}

/*
 * A random gap between two arrivals. @cv is the coefficient of variation. Up to 1, gaps are
 * exponential (Poisson arrivals). Above 1, they are drawn from two exponentials with balanced
 * means, so that requests come in bursts.
 */
static inline double gs_rng_gap(uint64_t *state, double mean, double cv)
{
	double often;

	if (!(cv > 1))
		return gs_rng_exp(state, mean);
	often = (1 + sqrt((cv * cv - 1) / (cv * cv + 1))) / 2;
	if (gs_rng_unit(state) < often)
		return gs_rng_exp(state, mean / (2 * often));
	return gs_rng_exp(state, mean / (2 * (1 - often)));
}

/*
 * Derives a seed for @name and @index from @seed. It does not depend on which other names there
 * are.
 */
static inline uint64_t gs_rng_named(uint64_t seed, const char *name, uint64_t index)
{
	uint64_t state = 14695981039346656037ull;

	for (; *name; name++)
		state = (state ^ (unsigned char)*name) * 1099511628211ull;
	state ^= seed * 0x9e3779b97f4a7c15ull + index;
	return gs_rng_next(&state);
}

#endif /* GPUSCHED_BASIC_RNG_H */
