// SPDX-License-Identifier: MIT
/* test_agent.c - check when the agent foresees a launch, and how it counts its share of time */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "agent/foresee.h"
#include "agent/share.h"
#include "control/agents.h"

#define MS 1000000ull

/* A request arrives at @at, and a launch follows @after ns later (0: none). Returns if foreseen. */
static bool request(struct foresee *f, uint64_t at, uint64_t after)
{
	bool foreseen = foresee_arrival(f, at);

	if (after)
		foresee_launch(f, at + after);
	return foreseen;
}

static void test_ten_good_cases(void **state)
{
	struct foresee f = { 0 };

	for (uint64_t i = 1; i <= 10; i++)
		assert_false(request(&f, i * 100 * MS, MS));
	assert_true(request(&f, 1100 * MS, MS));
}

static void test_nine_of_ten(void **state)
{
	struct foresee f = { 0 };

	for (uint64_t i = 1; i <= 10; i++)
		request(&f, i * 100 * MS, i == 4 ? 0 : MS);
	assert_true(request(&f, 1100 * MS, MS));
	f = (struct foresee){ 0 };
	for (uint64_t i = 1; i <= 10; i++)
		request(&f, i * 100 * MS, i == 4 || i == 6 ? 0 : MS);
	assert_false(request(&f, 1100 * MS, MS));
}

static void test_late_launch_is_none(void **state)
{
	struct foresee f = { 0 };

	for (uint64_t i = 1; i <= 20; i++)
		assert_false(request(&f, i * 100 * MS, 11 * MS));
	f = (struct foresee){ 0 };
	for (uint64_t i = 1; i <= 10; i++)
		request(&f, i * 100 * MS, 10 * MS);
	assert_true(request(&f, 1100 * MS, 0));
}

static void test_given_up_when_wrong(void **state)
{
	struct foresee f = { 0 };

	for (uint64_t i = 1; i <= 10; i++)
		request(&f, i * 100 * MS, MS);
	assert_true(request(&f, 1100 * MS, 0)); /* a launch was foreseen, and did not come */
	for (uint64_t i = 12; i <= 21; i++)
		assert_false(request(&f, i * 100 * MS, MS));
	assert_true(request(&f, 2200 * MS, MS)); /* foresees again, after ten right guesses */
}

/* A request in three pieces counts once, and is foreseen once. */
static void test_pieces(void **state)
{
	struct foresee f = { 0 };

	for (uint64_t i = 1; i <= 10; i++) {
		foresee_arrival(&f, i * 100 * MS);
		foresee_arrival(&f, i * 100 * MS + 1);
		foresee_launch(&f, i * 100 * MS + 2);
	}
	assert_int_equal(f.n, 10);
	assert_true(foresee_arrival(&f, 1100 * MS));
	assert_false(foresee_arrival(&f, 1100 * MS + 1));
}

static void test_share_of_a_second(void **state)
{
	struct share s = { 0 };

	for (uint64_t at = 5000; at < 6000; at += 100)
		share_use(&s, at * MS, (at + 20) * MS);
	assert_int_equal(share_used(&s, 6000 * MS), 200 * MS);
	assert_true(share_used(&s, 6500 * MS) >= 100 * MS); /* the part within the last second */
	assert_true(share_used(&s, 6500 * MS) <= 120 * MS);
	assert_int_equal(share_used(&s, 8000 * MS), 0);
	assert_int_equal(share_used(&s, 999999999 * MS), 0);
}

/* The result is never less than the time really used in the second before any moment. */
static void test_share_is_not_less(void **state)
{
	struct share s = { 0 };
	uint64_t from[64], to[64], now = 3 * 1000 * MS;
	unsigned int n = 0;

	for (unsigned int i = 0; i < 64; i++) {
		uint64_t used = 0;

		now += (i * 37 % 90 + 1) * MS;
		from[n] = now - (i % 25 + 1) * MS;
		to[n] = now;
		if (n && from[n] < to[n - 1])
			from[n] = to[n - 1];
		share_use(&s, from[n], to[n]);
		n++;
		for (unsigned int k = 0; k < n; k++)
			if (to[k] + 1000 * MS > now)
				used += to[k] - from[k];
		assert_true(share_used(&s, now) >= used);
	}
}

/*
 * With a daemon, hints get half of each second, and nothing after a second for which the log shows
 * more than half.
 */
static void test_share_by_the_log(void **state)
{
	/* the figure at the begin of the second is unknown (0) */
	assert_int_equal(gs_agents_share_ns(0, 900 * MS, 1000 * MS), 500 * MS);
	assert_int_equal(gs_agents_share_ns(100 * MS, 600 * MS, 1000 * MS), 500 * MS);
	assert_int_equal(gs_agents_share_ns(100 * MS, 601 * MS, 1000 * MS), 0);
	assert_int_equal(gs_agents_share_ns(100 * MS, 50 * MS, 1000 * MS),
			 500 * MS); /* the sum is smaller, since TSGs ended */
	assert_int_equal(gs_agents_share_ns(100 * MS, 601 * MS, 2000 * MS), 500 * MS);
}

/* Reported launches never decrease, and grow no faster than a program can launch. */
static void test_launches_believed(void **state)
{
	assert_int_equal(gs_agents_believed(100, 150, 1000 * MS), 150);
	assert_int_equal(gs_agents_believed(100, 90, 1000 * MS), 100);
	assert_int_equal(gs_agents_believed(100, 100 + 10000000, 1000 * MS), 100 + 10000000);
	assert_int_equal(gs_agents_believed(100, 100 + 10000001, 1000 * MS), 100 + 10000000);
	assert_int_equal(gs_agents_believed(100, UINT64_MAX, 0), 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ten_good_cases),
		cmocka_unit_test(test_nine_of_ten),
		cmocka_unit_test(test_late_launch_is_none),
		cmocka_unit_test(test_given_up_when_wrong),
		cmocka_unit_test(test_pieces),
		cmocka_unit_test(test_share_of_a_second),
		cmocka_unit_test(test_share_is_not_less),
		cmocka_unit_test(test_share_by_the_log),
		cmocka_unit_test(test_launches_believed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
