/* SPDX-License-Identifier: MIT */
/* test_odd.c - check that an anomaly is reported once, when it begins, and normal figures never */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "basic/clock.h"
#include "figures/anomaly.h"
#include "rm/costs.h"

#define BIT(odd) (1u << GS_ODD_##odd)

static uint64_t short_ns; /* length of a turn that spends half of its time on the switch */

/* Adds a second with @held and @waited ms, and @turns turns; the slice ended @cut of these. */
static uint32_t second(struct gs_odd_state *s, bool lc, unsigned int held, unsigned int waited,
		       unsigned int turns, unsigned int cut)
{
	struct gs_odd_look now = s->before;

	now.ns += NS_PER_S;
	now.lc = lc;
	now.timed = true;
	now.held_ns += held * NS_PER_MS;
	now.wait_ns += waited * NS_PER_MS;
	now.turns += turns;
	now.short_ns = short_ns;
	now.slice_ended += cut;
	return gs_odd_tsg(s, &now);
}

static uint32_t launches(struct gs_odd_state *s, uint64_t n)
{
	struct gs_odd_look now = s->before;

	now.ns += NS_PER_S;
	now.counted = true;
	now.launches += n;
	return gs_odd_tsg(s, &now);
}

static void lc_waits(void **state)
{
	struct gs_odd_state s = { 0 };

	assert_int_equal(second(&s, true, 100, 900, 10, 0), 0); /* one look proves nothing */
	assert_int_equal(second(&s, true, 100, 90, 10, 0), 0);
	assert_int_equal(second(&s, true, 600, 300, 10, 0), 0);
	assert_int_equal(second(&s, true, 100, 400, 10, 0), BIT(LC_WAITS));
	assert_true(s.rates.waited > 0.39 && s.rates.waited < 0.41);
	assert_int_equal(second(&s, true, 100, 400, 10, 0), 0); /* already reported */
	for (int i = 0; i < GS_ODD_CALM - 1; i++)
		assert_int_equal(second(&s, true, 600, 0, 10, 0), 0);
	/* not reported again, since it was not calm for long enough */
	assert_int_equal(second(&s, true, 100, 400, 10, 0), 0);
	for (int i = 0; i < GS_ODD_CALM; i++)
		assert_int_equal(second(&s, true, 600, 0, 10, 0), 0);
	assert_int_equal(second(&s, true, 100, 400, 10, 0), BIT(LC_WAITS));
}

static void a_be_may_wait(void **state)
{
	struct gs_odd_state s = { 0 };

	for (int i = 0; i < 5; i++)
		assert_int_equal(second(&s, false, 100, 800, 10, 10), 0);
}

/* The wait of a TSG that never gets a turn does not end, but counts anyway. */
static void lc_that_gets_none(void **state)
{
	struct gs_odd_look now = { .ns = NS_PER_S, .lc = true, .timed = true, .waiting = true };
	struct gs_odd_state s = { 0 };

	assert_int_equal(gs_odd_tsg(&s, &now), 0);
	now.ns += NS_PER_S;
	assert_int_equal(gs_odd_tsg(&s, &now), BIT(LC_WAITS));
}

static void cut_short(void **state)
{
	struct gs_odd_state s = { 0 };

	short_ns = gs_costs_short_turn_ns(&(struct gs_costs){ 0 });
	assert_in_range(short_ns, 240 * NS_PER_US, 260 * NS_PER_US); /* the value of an H200 */
	second(&s, false, 100, 0, 10, 10);
	assert_int_equal(second(&s, false, 400, 0, 200, 200), 0); /* turns of 2 ms each */
	assert_int_equal(second(&s, false, 4, 0, 40, 40), 0);     /* too few turns */
	assert_int_equal(second(&s, false, 60, 0, 600, 100), 0);  /* turns that drain */
	assert_int_equal(second(&s, false, 60, 0, 600, 590), BIT(CUT_SHORT));
	s = (struct gs_odd_state){ 0 };
	short_ns =
		gs_costs_short_turn_ns(&(struct gs_costs){ .save_ns = 20000, .switch_ns = 17000 });
	second(&s, false, 100, 0, 10, 10);
	assert_int_equal(second(&s, false, 60, 0, 600, 590), 0); /* switches that cost little */
}

static void bursts_and_ends(void **state)
{
	struct gs_odd_state s = { 0 };

	assert_int_equal(launches(&s, 1000000), 0);
	for (int i = 0; i < 5; i++)
		assert_int_equal(launches(&s, 200), 0);
	assert_int_equal(launches(&s, 1500), 0); /* not ten times the usual rate */
	assert_int_equal(launches(&s, 40000), BIT(LAUNCH_BURST));
	assert_int_equal(launches(&s, 200), 0);
	for (int i = 0; i < GS_ODD_CALM - 1; i++)
		assert_int_equal(launches(&s, 0), 0);
	assert_int_equal(launches(&s, 0), BIT(LAUNCHES_STOPPED));
	for (int i = 0; i < 20; i++)
		assert_int_equal(launches(&s, 0), 0);
}

/* A program that launches now and then has not stopped. Without counts, nothing is known. */
static void slow_ones(void **state)
{
	struct gs_odd_state s = { 0 };

	for (int i = 0; i < 40; i++)
		assert_int_equal(launches(&s, i % 8 ? 0 : 5), 0);
	s = (struct gs_odd_state){ 0 };
	for (int i = 0; i < 10; i++)
		assert_int_equal(second(&s, true, 0, 0, 0, 0), 0);
}

static void lost_time(void **state)
{
	struct gs_odd_state s = { 0 };

	assert_int_equal(gs_odd_gpu(&s, 0.09), 0);
	assert_int_equal(gs_odd_gpu(&s, 0.33), BIT(LOST_TIME));
	assert_int_equal(gs_odd_gpu(&s, 0.33), 0);
}

static void names(void **state)
{
	assert_string_equal(gs_odd_name(GS_ODD_LOST_TIME), "lost-time");
	assert_string_equal(gs_odd_name(GS_ODD_MAX), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lc_waits),          cmocka_unit_test(a_be_may_wait),
		cmocka_unit_test(lc_that_gets_none), cmocka_unit_test(cut_short),
		cmocka_unit_test(bursts_and_ends),   cmocka_unit_test(slow_ones),
		cmocka_unit_test(lost_time),         cmocka_unit_test(names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
