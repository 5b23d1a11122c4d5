// SPDX-License-Identifier: MIT
/* test_quiet.c - check how the end of a service's requests is learned from its rests */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "basic/cleanup.h"
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
	rests(&q, 15, 5000);
	assert_int_equal(gs_quiet_us(&q), 0);
	rests(&q, 1, 5000);
	assert_int_equal(gs_quiet_us(&q), 1000);
}

/* A program that loads weights: rests of all lengths from 0.3 to 20 ms. */
static void load_weights(struct gs_quiet *q, unsigned int n, uint64_t *rng)
{
	while (n--)
		gs_quiet_rest(q,
			      (300ull << gs_rng_next(rng) % 6) * (1000 + gs_rng_next(rng) % 1000));
}

static void one_request(struct gs_quiet *q, unsigned int tokens, uint64_t token_us, uint64_t *rng)
{
	rests(q, tokens - 1, token_us);
	gs_quiet_rest(q, 40 * NS_PER_MS + (uint64_t)gs_rng_gap(rng, 150e6, 1));
}

/* Whatever the program did before it served, its third request is told. */
static void test_start(void **state)
{
	static const unsigned int before[] = { 0, 1, 15, 100, 1000, 10000, 100000 };
	static const struct {
		unsigned int tokens;
		uint64_t token_us;
	} services[] = { { 1, 0 }, { 8, 60 }, { 32, 60 }, { 32, 400 }, { 32, 3000 }, { 300, 900 } };
	uint64_t rng = 3;

	for (unsigned int i = 0; i < GS_COUNT(before) * GS_COUNT(services) * 20; i++) {
		unsigned int n = before[i % GS_COUNT(before)], k = i / GS_COUNT(before);
		uint64_t token_us = services[k % GS_COUNT(services)].token_us;
		unsigned int tokens = services[k % GS_COUNT(services)].tokens;
		struct gs_quiet q = { 0 };

		load_weights(&q, n, &rng);
		rests(&q, 1, 700000); /* it waits for its first request */
		one_request(&q, tokens, token_us, &rng);
		one_request(&q, tokens, token_us, &rng);
		for (unsigned int r = 3; r < 60; r++) {
			assert_in_range(gs_quiet_us(&q), token_us * 5 / 4 + 1, GS_QUIET_MOST_US);
			one_request(&q, tokens, token_us, &rng);
		}
	}
}

/* Other requests are told from the third on as well, however many there were before. */
static void test_other_requests(void **state)
{
	static const uint64_t tokens_us[] = { 60, 3000, 900, 4000, 0 };
	uint64_t rng = 5;

	for (unsigned int from = 0; from < 5; from++)
		for (unsigned int to = 0; to < 5; to++) {
			struct gs_quiet q = { 0 };

			for (unsigned int r = 0; r < 2000; r++)
				one_request(&q, 32, tokens_us[from], &rng);
			for (unsigned int r = 1; r < 60; r++) {
				one_request(&q, 32, tokens_us[to], &rng);
				if (r > 2)
					assert_in_range(gs_quiet_us(&q), tokens_us[to] * 5 / 4 + 1,
							GS_QUIET_MOST_US);
			}
		}
}

/* A service at random moments, 66 and 40 a second, whose rests are of any length now and then. */
static void test_busy(void **state)
{
	static const double means_us[] = { 15000, 25000 };
	uint64_t rng = 9;

	for (unsigned int i = 0; i < 2; i++) {
		struct gs_quiet q = { 0 };
		unsigned int unknown = 0;

		load_weights(&q, 5000, &rng);
		for (unsigned int r = 0; r < 3000; r++) {
			rests(&q, 31, 50);
			gs_quiet_rest(&q, (uint64_t)gs_rng_gap(&rng, means_us[i] * 1000, 1));
			unknown += r >= 10 && !gs_quiet_us(&q);
		}
		assert_in_range(unknown, 0, 600);
	}
}

/* While a program loads, hardly ever is a length found. */
static void test_loads(void **state)
{
	unsigned int known = 0;
	struct gs_quiet q = { 0 };
	uint64_t rng = 11;

	for (unsigned int i = 0; i < 10000; i++) {
		load_weights(&q, 1, &rng);
		known += gs_quiet_us(&q) != 0;
	}
	assert_in_range(known, 0, 300);
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

/* A tenth more or less than @us. */
static void about(struct gs_quiet *q, uint64_t us, uint64_t *rng)
{
	gs_quiet_rest(q, us * (900 + gs_rng_next(rng) % 200));
}

/* Before it serves, a service warms up: 20 requests at once, whose first tokens compile kernels. */
static void test_warm_up(void **state)
{
	uint64_t rng = 13;

	for (unsigned int i = 0; i < 100; i++) {
		struct gs_quiet q = { 0 };

		load_weights(&q, 100, &rng);
		for (unsigned int r = 0; r < 20; r++)
			for (unsigned int token = 0; token < 32; token++)
				about(&q, r || token > 8 ? 3000 : 30000, &rng);
		about(&q, 700000, &rng);
		for (unsigned int r = 1; r < 60; r++) {
			if (r > 2)
				assert_in_range(gs_quiet_us(&q), 3600, GS_QUIET_MOST_US);
			one_request(&q, 32, 3000, &rng);
		}
	}
}

/* Requests 1.5 tokens apart: each rest between tokens is an end, or none is. */
static void test_close_requests(void **state)
{
	static const uint64_t tokens_us[] = { 1000, 3000, 5000 };
	uint64_t rng = 17;

	for (unsigned int i = 0; i < 3; i++) {
		struct gs_quiet q = { 0 };

		for (unsigned int r = 0; r < 200; r++) {
			uint32_t quiet = gs_quiet_us(&q);

			for (unsigned int token = 0; token < 31; token++)
				about(&q, tokens_us[i], &rng);
			about(&q, tokens_us[i] * 3 / 2, &rng);
			assert_false(quiet > tokens_us[i] * 9 / 10 &&
				     quiet < tokens_us[i] * 11 / 10);
		}
	}
}

/* Two streams of tokens in one program, at random offsets; now and then there is only one. */
static void test_two_streams(void **state)
{
	uint64_t rng = 19;

	for (unsigned int i = 0; i < 100; i++) {
		struct gs_quiet q = { 0 };

		for (unsigned int r = 1; r < 60; r++) {
			uint64_t offset = 300 + gs_rng_next(&rng) % 900;

			if (r > 2)
				assert_in_range(gs_quiet_us(&q), 1800, GS_QUIET_MOST_US);
			for (unsigned int token = 0; token < 32; token++) {
				about(&q, token < 24 ? offset : 1500, &rng);
				if (token < 24)
					about(&q, 1500 - offset, &rng);
			}
			gs_quiet_rest(&q, 40 * NS_PER_MS + (uint64_t)gs_rng_gap(&rng, 150e6, 1));
		}
	}
}

/* The prompt is read in pieces that take 300 ms in all, with longer rests than between tokens. */
static void test_prefill(void **state)
{
	uint64_t rng = 23;

	for (unsigned int i = 0; i < 100; i++) {
		struct gs_quiet q = { 0 };

		for (unsigned int r = 1; r < 60; r++) {
			if (r > 2)
				assert_in_range(gs_quiet_us(&q), 2500, GS_QUIET_MOST_US);
			for (unsigned int piece = 0; piece < 10; piece++)
				about(&q, 2000, &rng);
			one_request(&q, 32, 400, &rng);
		}
	}
}

static void all_lengths(struct gs_quiet *q)
{
	for (unsigned int i = 0; i < 4; i++)
		for (unsigned int us = 200; us < 20000; us += us / 16)
			rests(q, 1, us);
}

/* For rests of all lengths, no value separates those within requests from those between. */
static void test_overlap(void **state)
{
	struct gs_quiet q = { 0 };

	all_lengths(&q);
	assert_int_equal(gs_quiet_us(&q), 0);
}

/* Old behaviour is forgotten. */
static void test_changes(void **state)
{
	struct gs_quiet q = { 0 };

	all_lengths(&q);
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
		cmocka_unit_test(test_start),       cmocka_unit_test(test_other_requests),
		cmocka_unit_test(test_busy),        cmocka_unit_test(test_loads),
		cmocka_unit_test(test_warm_up),     cmocka_unit_test(test_close_requests),
		cmocka_unit_test(test_two_streams), cmocka_unit_test(test_prefill),
		cmocka_unit_test(test_extremes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
