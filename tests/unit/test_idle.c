/* SPDX-License-Identifier: MIT */
/* test_idle.c - check since when a TSG counts as idle */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "account/turns.h"
#include "basic/clock.h"
#include "figures/idle.h"

#define S NS_PER_S

static struct gs_idle idle;
static struct gs_turn_sums t;

static int anew(void **state)
{
	idle = (struct gs_idle){ 0 };
	t = (struct gs_turn_sums){ 0 };
	return 0;
}

static void rests_without_turns(void **state)
{
	gs_idle_look(&idle, &t, 5 * S);
	assert_int_equal(idle.since_ns, 0);
	gs_idle_look(&idle, &t, 10 * S);
	assert_int_equal(idle.since_ns, 5 * S);
	gs_idle_look(&idle, &t, 15 * S);
	assert_int_equal(idle.since_ns, 5 * S);
}

static void a_turn_is_work(void **state)
{
	gs_idle_look(&idle, &t, 5 * S);
	t.turns++;
	t.held_ns += 1000;
	gs_idle_look(&idle, &t, 10 * S);
	assert_int_equal(idle.since_ns, 0);
	gs_idle_look(&idle, &t, 15 * S);
	assert_int_equal(idle.since_ns, 10 * S);
}

/* Another TSG came, so the idle TSG's long turn ended, and no new turn of it began. */
static void the_end_of_a_turn_is_no_work(void **state)
{
	t.loaded = true;
	gs_idle_look(&idle, &t, 5 * S);
	t.loaded = false;
	t.turns++;
	gs_idle_look(&idle, &t, 10 * S);
	assert_int_equal(idle.since_ns, 5 * S);
}

static void alone_the_samples_decide(void **state)
{
	t.loaded = true;
	gs_idle_look(&idle, &t, 5 * S);
	t.held_ns += 5 * S;
	t.alone_ns += 4 * S;
	gs_idle_look(&idle, &t, 10 * S);
	assert_int_equal(idle.since_ns, 5 * S);
	t.held_ns += 5 * S;
	t.alone_ns += 5 * S;
	t.worked_ns += S / 10;
	gs_idle_look(&idle, &t, 15 * S);
	assert_int_equal(idle.since_ns, 0);
}

static void loaded_without_samples_is_not_known(void **state)
{
	t.loaded = true;
	gs_idle_look(&idle, &t, 5 * S);
	t.held_ns += 5 * S;
	gs_idle_look(&idle, &t, 10 * S);
	assert_int_equal(idle.since_ns, 0);
	t.held_ns += 5 * S;
	t.alone_ns += S; /* it was alone for only a part of that time */
	gs_idle_look(&idle, &t, 15 * S);
	assert_int_equal(idle.since_ns, 0);
}

static void without_a_log_nothing_is_known(void **state)
{
	gs_idle_look(&idle, &t, 5 * S);
	gs_idle_look(&idle, &t, 10 * S);
	gs_idle_look(&idle, NULL, 15 * S);
	assert_int_equal(idle.since_ns, 0);
	gs_idle_look(&idle, &t, 20 * S);
	assert_int_equal(idle.since_ns, 0);
	gs_idle_look(&idle, &t, 25 * S);
	assert_int_equal(idle.since_ns, 20 * S);
}

static void a_log_opened_anew_begins_anew(void **state)
{
	t.loaded = true;
	t.held_ns = t.alone_ns = 20 * S;
	gs_idle_look(&idle, &t, 5 * S);
	gs_idle_look(&idle, &t, 10 * S);
	assert_int_equal(idle.since_ns, 5 * S);
	t.held_ns = t.alone_ns = 2 * S;
	gs_idle_look(&idle, &t, 15 * S);
	assert_int_equal(idle.since_ns, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(rests_without_turns, anew),
		cmocka_unit_test_setup(a_turn_is_work, anew),
		cmocka_unit_test_setup(the_end_of_a_turn_is_no_work, anew),
		cmocka_unit_test_setup(alone_the_samples_decide, anew),
		cmocka_unit_test_setup(loaded_without_samples_is_not_known, anew),
		cmocka_unit_test_setup(without_a_log_nothing_is_known, anew),
		cmocka_unit_test_setup(a_log_opened_anew_begins_anew, anew),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
