/* SPDX-License-Identifier: MIT */
/*
 * rng.h - random numbers that are the same on every machine for the same seed (splitmix64)
 */
#ifndef GPUSCHED_SIM_RNG_H
#define GPUSCHED_SIM_RNG_H

#include <math.h>
#include <stdint.h>

static inline uint64_t sim_rng_next(uint64_t *state)
{
	uint64_t z = (*state += 0x9e3779b97f4a7c15ull);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

/* [0, 1) */
static inline double sim_rng_unit(uint64_t *state)
{
	return (double)(sim_rng_next(state) >> 11) * 0x1p-53;
}

static inline uint64_t sim_rng_range(uint64_t *state, uint64_t min, uint64_t max)
{
	return max > min ? min + sim_rng_next(state) % (max - min + 1) : min;
}

static inline uint64_t sim_rng_exp(uint64_t *state, double mean)
{
	return (uint64_t)(-log(1.0 - sim_rng_unit(state)) * mean);
}

#endif /* GPUSCHED_SIM_RNG_H */
