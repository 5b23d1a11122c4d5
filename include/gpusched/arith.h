/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * arith.h - arithmetic for policies and the pure headers that they use
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

/* Returns 0 if @b is 0, on every host, in the kernel and in tests. */
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
