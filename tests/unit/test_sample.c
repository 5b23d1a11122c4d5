// SPDX-License-Identifier: MIT
/* test_sample.c - check statistics of measurements */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "basic/cleanup.h"
#include "basic/sample.h"

#define N 1000
#define BLOCKS 5

/* Fills block @k with the numbers 1 to N, each times @by plus @k times @step. */
static struct gs_sample block(double *room, size_t k, double by, double step)
{
	for (size_t i = 0; i < N; i++)
		room[i] = (double)(i + 1) * by + (double)k * step;
	return (struct gs_sample){ room, N };
}

static void test_quantiles(void **state)
{
	assert_int_equal(gs_quantile_at(1, 0), 0);
	assert_int_equal(gs_quantile_at(1, 1), 0);
	assert_int_equal(gs_quantile_at(100, 0.5), 50);
	assert_int_equal(gs_quantile_at(100, 0.99), 99);
	assert_int_equal(gs_quantile_at(100, 1), 99);
}

static void test_median(void **state)
{
	double odd[] = { 5, 1, 3 }, even[] = { 4, 1, 3, 2 };

	assert_true(gs_sample_median(odd, 3) == 3);
	assert_true(gs_sample_median(even, 4) == 2.5);
	assert_true(isnan(gs_sample_median(odd, 0)));
}

static void test_blocks(void **state)
{
	static double room[BLOCKS][N];
	struct gs_sample b[BLOCKS];
	struct gs_figure f;

	for (size_t k = 0; k < BLOCKS; k++)
		b[k] = block(room[k], k, 1, 10);
	f = gs_sample_quantile(b, BLOCKS, 0.5);
	assert_true(f.value == 521); /* the third block's 501 + 20 */
	assert_true(f.low < f.value && f.value < f.high);
	assert_true(f.low > 470 &&
		    f.high < 580); /* about 16 from the requests, 20 from the blocks */
	f = gs_sample_quantile(b, 1, 0.99);
	assert_true(f.value == 991 && isnan(f.low) && isnan(f.high));
	b[2].n = 0; /* this block has no measurements */
	f = gs_sample_quantile(b, BLOCKS, 0.5);
	assert_true(f.value == 521); /* the middle of 511 and 531 */
	for (size_t k = 0; k < BLOCKS; k++)
		b[k].n = 0;
	f = gs_sample_quantile(b, BLOCKS, 0.5);
	assert_true(isnan(f.value) && isnan(f.low));
}

/* A drift that affects both samples in each block must not widen the interval of their ratio. */
static void test_pairs(void **state)
{
	static double ra[BLOCKS][N], rb[BLOCKS][N];
	struct gs_sample a[BLOCKS], b[BLOCKS];
	struct gs_figure paired, alone;

	for (size_t k = 0; k < BLOCKS; k++) {
		double drift = (double)(k + 1);

		a[k] = block(ra[k], 0, 2 * drift, 0);
		b[k] = block(rb[k], 0, drift, 0);
	}
	paired = gs_sample_quantile_ratio(a, b, BLOCKS, 0.5);
	alone = gs_sample_quantile(a, BLOCKS, 0.5);
	assert_true(paired.value == 2);
	assert_true(paired.low > 1.8 && paired.high < 2.2);
	assert_true(alone.high / alone.low > 2);
	b[1].n = 0;
	assert_true(gs_sample_quantile_ratio(a, b, BLOCKS, 0.5).value == 2);
}

/* The interval is about as wide as one from resampling all requests. */
static void test_width(void **state)
{
	static double room[2][N];
	struct gs_sample b[2] = { block(room[0], 0, 1, 0), block(room[1], 0, 1, 0) };
	struct gs_figure f = gs_sample_quantile(b, 2, 0.5);
	/*
	 * Standard error of the median of two blocks: sqrt(.25 / 1000 / 2) = 1.12 % of the range.
	 * The interval is 2 * 1.96 times as wide.
	 */
	double wide = (f.high - f.low) / N;

	assert_true(wide > 0.03 && wide < 0.06);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_quantiles), cmocka_unit_test(test_median),
		cmocka_unit_test(test_blocks),    cmocka_unit_test(test_pairs),
		cmocka_unit_test(test_width),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
