// SPDX-License-Identifier: MIT
/* test_quiet.c - check how the end of a service's requests is learned from its rests */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "basic/clock.h"
#include "basic/quiet.h"
#include "basic/rng.h"

static void rests(struct gs_quiet *q, unsigned int n, uint64_t us)
{
	while (n--)
		gs_quiet_rest(q, us * NS_PER_US);
}

static void test_unknown(void **state)
{
	struct gs_quiet q = { 0 };

	assert_int_equal(gs_quiet_us(&q), 0);
	rests(&q, 15, 50000);
	assert_int_equal(gs_quiet_us(&q), 0);
	rests(&q, 1, 50000);
	assert_int_equal(gs_quiet_us(&q), 1000);
}

/* Requests with tokens 50 us apart, at random times: 4, 8 or 40 a second. */
static void test_tokens(void **state)
{
	static const double means_us[] = { 170000, 47000, 15000 };
	uint64_t rng = 7;

	for (unsigned int i = 0; i < 3; i++) {
		struct gs_quiet q = { 0 };

		for (unsigned int r = 0; r < 200; r++) {
			rests(&q, 63, 50);
			gs_quiet_rest(&q, (uint64_t)gs_rng_gap(&rng, means_us[i] * 1000, 1));
		}
		assert_int_equal(gs_quiet_us(&q), 1000);
	}
}

/* The CPU computes for 2.5 ms between tokens, and rests for 60 ms between requests. */
static void test_slow_tokens(void **state)
{
	struct gs_quiet q = { 0 };
	uint32_t quiet;

	for (unsigned int r = 0; r < 100; r++) {
		rests(&q, 31, 2000 + r * 10);
		rests(&q, 1, 60000);
	}
	quiet = gs_quiet_us(&q);
	assert_in_range(quiet, 4000, GS_QUIET_MOST_US);
}

/* A service that is behind has no rests between requests: all its rests are within requests. */
static void test_held_up(void **state)
{
	struct gs_quiet q = { 0 };

	rests(&q, 1000, 20);
	assert_int_equal(gs_quiet_us(&q), 1000);
	rests(&q, 1000, 3000);
	assert_in_range(gs_quiet_us(&q), 6000, GS_QUIET_MOST_US);
}

/* For rests of all lengths, no value separates those within requests from those between. */
static void test_overlap(void **state)
{
	struct gs_quiet q = { 0 };

	for (unsigned int us = 200; us < 20000; us += us / 16)
		rests(&q, 4, us);
	assert_int_equal(gs_quiet_us(&q), 0);
}

/* Old behaviour is forgotten. */
static void test_changes(void **state)
{
	struct gs_quiet q = { 0 };

	for (unsigned int us = 200; us < 20000; us += us / 16)
		rests(&q, 4, us);
	assert_int_equal(gs_quiet_us(&q), 0);
	for (unsigned int r = 0; r < 4000; r++) {
		rests(&q, 63, 50);
		rests(&q, 1, 80000);
	}
	assert_in_range(gs_quiet_us(&q), GS_QUIET_LEAST_US, GS_QUIET_MOST_US);
}

static void test_extremes(void **state)
{
	struct gs_quiet q = { 0 };

	rests(&q, 1, 0);
	gs_quiet_rest(&q, UINT64_MAX);
	assert_true(q.bins[0] && q.bins[GS_QUIET_BINS - 1]);
	for (unsigned int i = 0; i < 100000; i++)
		gs_quiet_rest(&q, i);
	assert_in_range(q.n, 1, 16384);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unknown),     cmocka_unit_test(test_tokens),
		cmocka_unit_test(test_slow_tokens), cmocka_unit_test(test_held_up),
		cmocka_unit_test(test_overlap),     cmocka_unit_test(test_changes),
		cmocka_unit_test(test_extremes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
