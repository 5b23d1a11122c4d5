// SPDX-License-Identifier: MIT
/* test_watchdog.c - check which calls of policies' C code the watchdog ends */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "basic/clock.h"
#include "policy/watchdog.h"

#define LIMIT_MS 20
#define BLOCKED_PERIODS 20

static void work_on(void *arg)
{
	volatile unsigned int *n = arg;

	for (;;)
		++*n;
}

/* Uses time without using a processor, like a thread that others keep from running. */
static void blocked(void *arg)
{
	uint64_t until = gs_now_ns() + *(unsigned int *)arg * LIMIT_MS * NS_PER_MS;

	while (gs_now_ns() < until)
		gs_sleep_ns(until - gs_now_ns());
}

static int run(void (*fn)(void *arg), unsigned int arg, uint64_t *ret_ns)
{
	uint64_t start = gs_now_ns();
	int r;

	assert_int_equal(gs_watchdog_start(LIMIT_MS), 0);
	r = gs_watchdog_run(fn, &arg);
	*ret_ns = gs_now_ns() - start;
	gs_watchdog_stop();
	return r;
}

static void test_works_too_long(void **state)
{
	uint64_t ns;

	(void)state;
	assert_int_equal(run(work_on, 0, &ns), GS_WATCHDOG_STALLED);
	assert_true(ns >= LIMIT_MS * NS_PER_MS);
}

static void test_no_processor(void **state)
{
	uint64_t ns;

	(void)state;
	assert_int_equal(run(blocked, BLOCKED_PERIODS / 2, &ns), 0);
}

static void test_never_a_processor(void **state)
{
	uint64_t ns;

	(void)state;
	assert_int_equal(run(blocked, 1000, &ns), GS_WATCHDOG_STALLED);
	assert_true(ns >= BLOCKED_PERIODS * LIMIT_MS * NS_PER_MS);
}

/* The time of one call does not count for the next. */
static void test_each_call_anew(void **state)
{
	unsigned int periods = BLOCKED_PERIODS / 4;

	(void)state;
	assert_int_equal(gs_watchdog_start(LIMIT_MS), 0);
	for (unsigned int i = 0; i < 8; i++)
		assert_int_equal(gs_watchdog_run(blocked, &periods), 0);
	gs_watchdog_stop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_works_too_long),
		cmocka_unit_test(test_no_processor),
		cmocka_unit_test(test_never_a_processor),
		cmocka_unit_test(test_each_call_anew),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
