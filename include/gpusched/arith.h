/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * arith.h - computes quotients, minima and maxima for policies and their headers
 */
#ifndef GPUSCHED_ARITH_H
#define GPUSCHED_ARITH_H

#include "gpusched/abi.h"

#ifndef GPUSCHED_INLINE
#define GPUSCHED_INLINE __attribute__((unused)) static inline
#endif

/* A millisecond and a second, in ns. */
#define GS_MS 1000000ull
#define GS_S 1000000000ull

/* Returns a / b, or 0 if @b is 0: the same on every host, whatever its CPU does. */
GPUSCHED_INLINE gs_u64 gpusched_div(gs_u64 a, gs_u64 b)
{
	return b ? a / b : 0;
}

GPUSCHED_INLINE gs_u64 gs_least(gs_u64 a, gs_u64 b)
{
	return a < b ? a : b;
}

GPUSCHED_INLINE gs_u64 gs_most(gs_u64 a, gs_u64 b)
{
	return a > b ? a : b;
}

#endif /* GPUSCHED_ARITH_H */
