// SPDX-License-Identifier: MIT
/* test_rests.c - check how requests and rests of a program without an agent are recognised */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "basic/quiet.h"
#include "launch/rests.h"

#define MS 1000000ull
#define US 1000ull

/* Makes a launch of @us and waits for it. Returns whether the daemon hears of a new request. */
static int token(struct gs_rests *s, uint64_t *now, uint64_t us, uint32_t quiet_us)
{
	int begins = gs_rests_begins(s, gs_rests_worked(s, *now, 0), quiet_us, *now);

	*now += 5 * US;
	assert_in_range(gs_rests_worked(s, *now, 1), 0, 5 * US);
	assert_int_equal(s->waiting, 1);
	assert_int_equal(s->rest_ns, 0);
	*now += us * US;
	gs_rests_waited(s, *now);
	assert_int_equal(s->rest_ns, *now);
	return begins;
}

static void test_one_event_a_request(void **state)
{
	struct gs_rests s = { 0 };
	uint64_t now = 100000 * MS;

	for (unsigned int r = 0; r < 50; r++) {
		for (unsigned int i = 0; i < 32; i++) {
			int begins = token(&s, &now, 3000, 1000);

			/*
			 * The first begin comes late, once a rest is known; the others come in
			 * time.
			 */
			assert_int_equal(begins, i == !r);
			now += 50 * US;
		}
		now += 80 * MS;
	}
	assert_int_equal(s.begins, 50);
	assert_int_equal(s.dropped, 0);
	assert_int_equal(gs_quiet_us(&s.rests), 1000);
}

/* Requests always wait in a queue, so no rest is long. */
static void test_a_program_that_is_never_quiet(void **state)
{
	struct gs_rests s = { 0 };
	uint64_t now = 100000 * MS;
	unsigned int heard = 0;

	for (unsigned int i = 0; i < 200; i++) {
		heard += (unsigned int)token(&s, &now, 3000, gs_quiet_us(&s.rests));
		now += 50 * US;
	}
	assert_int_equal(gs_quiet_us(&s.rests), 1000);
	assert_int_equal(heard, 1);
	assert_int_equal(s.begins, 1);
}

static void test_no_event_while_quiet_is_unknown(void **state)
{
	struct gs_rests s = { 0 };
	uint64_t now = 100000 * MS;

	token(&s, &now, 3000, 0);
	now += 80 * MS;
	assert_int_equal(token(&s, &now, 3000, 0), 0);
	assert_int_equal(s.begins, 0);
}

/* A thread's wait of 3 s is not a rest, whatever other threads launch meanwhile. */
static void test_a_wait_is_no_rest(void **state)
{
	struct gs_rests s = { 0 };
	uint64_t now = 100000 * MS;

	token(&s, &now, 1000, 1000);
	now += 50 * US;
	gs_rests_worked(&s, now, 1);
	for (unsigned int i = 0; i < 30; i++) {
		now += 100 * MS;
		assert_int_equal(gs_rests_worked(&s, now, 0), 0);
		assert_int_equal(s.rest_ns, 0);
	}
	gs_rests_waited(&s, now);
	assert_int_equal(s.rest_ns, now);
}

static void test_two_threads_wait(void **state)
{
	struct gs_rests s = { 0 };

	gs_rests_worked(&s, 5000 * MS, 1);
	gs_rests_worked(&s, 5001 * MS, 1);
	gs_rests_waited(&s, 5002 * MS);
	assert_int_equal(s.rest_ns, 0);
	gs_rests_waited(&s, 5003 * MS);
	assert_int_equal(s.rest_ns, 5003 * MS);
}

/* A program that polls instead of waiting seems to rest between its launches. */
static void test_a_program_that_never_waits(void **state)
{
	struct gs_rests s = { 0 };
	uint64_t now = 100000 * MS;
	unsigned int heard = 0;

	for (unsigned int r = 0; r < 40; r++) {
		for (unsigned int i = 0; i < 100; i++) {
			uint64_t rest = gs_rests_worked(&s, now, 0);

			assert_int_equal(s.rest_ns, now);
			heard +=
				(unsigned int)gs_rests_begins(&s, rest, gs_quiet_us(&s.rests), now);
			now += i % 10 ? 20 * US : 1200 * US;
		}
		now += 60 * MS;
	}
	assert_in_range(gs_quiet_us(&s.rests), 2400, GS_QUIET_MOST_US);
	assert_in_range(heard, 15, 40);
}

/* A program with very many requests cannot flood the ring of events. */
static void test_events_are_bounded(void **state)
{
	struct gs_rests s = { 0 };
	uint64_t now = 100000 * MS;
	unsigned int heard = 0;

	for (unsigned int i = 0; i < 800; i++) {
		heard += (unsigned int)token(&s, &now, 50, 1000);
		now += 1195 * US;
	}
	assert_in_range(heard, 150, 200);
	assert_int_equal(heard + s.dropped, s.begins);
}

/* The process was already waiting when its probes were set. */
static void test_a_wait_that_began_before(void **state)
{
	struct gs_rests s = { 0 };

	gs_rests_waited(&s, 5000 * MS);
	assert_int_equal(s.waiting, 0);
	assert_int_equal(gs_rests_worked(&s, 5020 * MS, 0), 20 * MS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_event_a_request),
		cmocka_unit_test(test_a_program_that_is_never_quiet),
		cmocka_unit_test(test_no_event_while_quiet_is_unknown),
		cmocka_unit_test(test_a_wait_is_no_rest),
		cmocka_unit_test(test_two_threads_wait),
		cmocka_unit_test(test_a_program_that_never_waits),
		cmocka_unit_test(test_events_are_bounded),
		cmocka_unit_test(test_a_wait_that_began_before),
	};

	return cmocka_run_group_tests_name("rests", tests, NULL, NULL);
}
