/* SPDX-License-Identifier: MIT */
/*
 * sample.h - computes quantiles, medians over blocks, and their confidence intervals
 *
 * Pure. A block is one pass over everything that is compared, so figures of one block belong
 * together. The intervals are bootstrap intervals of 95 %: blocks are drawn again with replacement,
 * and so are the measurements within a block. The same input gives the same interval.
 */
#ifndef GPUSCHED_BASIC_SAMPLE_H
#define GPUSCHED_BASIC_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>

/* The index of the @q-quantile (0 to 1) in @n sorted values; n must not be 0. */
static inline size_t gs_quantile_at(size_t n, double q)
{
	size_t i = (size_t)(q * (double)n);

	return i < n ? i : n - 1;
}

/* The measurements of one block, sorted by gs_sample_sort(). */
struct gs_sample {
	const double *v;
	size_t n;
};

/* A figure and its interval. With one block there is no interval: low and high are NAN. */
struct gs_figure {
	double value, low, high; /* NAN: unknown */
};

void gs_sample_sort(double *v, size_t n);
/* Sorts @v. For an even number of values, the mean of the two in the middle; NAN: no value. */
double gs_sample_median(double *v, size_t n);
/* The median over blocks of each block's @q-quantile. Blocks without a measurement are left out. */
struct gs_figure gs_sample_quantile(const struct gs_sample *blocks, size_t n, double q);
/*
 * The median over blocks of a ratio: the @q-quantile in @a divided by that in @b. Block i of both
 * was measured in one pass. Blocks without one of the two are left out.
 */
struct gs_figure gs_sample_quantile_ratio(const struct gs_sample *a, const struct gs_sample *b,
					  size_t n, double q);

#endif /* GPUSCHED_BASIC_SAMPLE_H */
