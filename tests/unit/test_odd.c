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

#define BIT(odd) (1u << GS_ANOMALY_##odd)

static uint64_t short_ns; /* length of a turn that spends half of its time on the switch */

/* Adds a second with @held and @waited ms, and @turns turns; the slice ended @cut of these. */
static uint32_t second(struct gs_anomaly_state *s, unsigned int held, unsigned int waited,
		       unsigned int turns, unsigned int cut)
{
	struct gs_anomaly_look now = s->before;

	now.ns += NS_PER_S;
	now.timed = true;
	now.held_ns += held * NS_PER_MS;
	now.wait_ns += waited * NS_PER_MS;
	now.turns += turns;
	now.short_ns = short_ns;
	now.slice_ended += cut;
	return gs_anomaly_tsg(s, &now);
}

static uint32_t launches(struct gs_anomaly_state *s, uint64_t n)
{
	struct gs_anomaly_look now = s->before;

	now.ns += NS_PER_S;
	now.counted = true;
	now.launches += n;
	return gs_anomaly_tsg(s, &now);
}

static void cut_short(void **state)
{
	struct gs_anomaly_state s = { 0 };

	short_ns = gs_costs_short_turn_ns(&(struct gs_costs){ 0 });
	assert_in_range(short_ns, 240 * NS_PER_US, 260 * NS_PER_US); /* the value of an H200 */
	second(&s, 100, 0, 10, 10);
	assert_int_equal(second(&s, 400, 0, 200, 200), 0); /* turns of 2 ms each */
	assert_int_equal(second(&s, 4, 0, 40, 40), 0);     /* too few turns */
	assert_int_equal(second(&s, 60, 0, 600, 100), 0);  /* turns that drain */
	assert_int_equal(second(&s, 60, 0, 600, 590), BIT(CUT_SHORT));
	s = (struct gs_anomaly_state){ 0 };
	short_ns =
		gs_costs_short_turn_ns(&(struct gs_costs){ .save_ns = 20000, .switch_ns = 17000 });
	second(&s, 100, 0, 10, 10);
	assert_int_equal(second(&s, 60, 0, 600, 590), 0); /* switches that cost little */
}

static void bursts_and_ends(void **state)
{
	struct gs_anomaly_state s = { 0 };

	assert_int_equal(launches(&s, 1000000), 0);
	for (int i = 0; i < 5; i++)
		assert_int_equal(launches(&s, 200), 0);
	assert_int_equal(launches(&s, 1500), 0); /* not ten times the usual rate */
	assert_int_equal(launches(&s, 40000), BIT(LAUNCH_BURST));
	assert_int_equal(launches(&s, 200), 0);
	for (int i = 0; i < GS_ANOMALY_CALM - 1; i++)
		assert_int_equal(launches(&s, 0), 0);
	assert_int_equal(launches(&s, 0), BIT(LAUNCHES_STOPPED));
	for (int i = 0; i < 20; i++)
		assert_int_equal(launches(&s, 0), 0);
}

/* A program that launches now and then has not stopped. Without counts, nothing is known. */
static void slow_ones(void **state)
{
	struct gs_anomaly_state s = { 0 };

	for (int i = 0; i < 40; i++)
		assert_int_equal(launches(&s, i % 8 ? 0 : 5), 0);
	s = (struct gs_anomaly_state){ 0 };
	for (int i = 0; i < 10; i++)
		assert_int_equal(second(&s, 0, 0, 0, 0), 0);
}

/* Reported again only after it has been absent for GS_ANOMALY_CALM samples. */
static void reported_once(void **state)
{
	struct gs_anomaly_state s = { 0 };

	short_ns = 250 * NS_PER_US;
	second(&s, 100, 0, 10, 10);
	assert_int_equal(second(&s, 60, 0, 600, 590), BIT(CUT_SHORT));
	assert_int_equal(second(&s, 60, 0, 600, 590), 0);
	for (int i = 0; i < GS_ANOMALY_CALM - 1; i++)
		assert_int_equal(second(&s, 600, 0, 10, 0), 0);
	assert_int_equal(second(&s, 60, 0, 600, 590), 0);
	for (int i = 0; i < GS_ANOMALY_CALM; i++)
		assert_int_equal(second(&s, 600, 0, 10, 0), 0);
	assert_int_equal(second(&s, 60, 0, 600, 590), BIT(CUT_SHORT));
}

/* Waits are a finding's, whoever waits. */
static void waits_are_not_odd(void **state)
{
	struct gs_anomaly_state s = { 0 };

	for (int i = 0; i < 5; i++)
		assert_int_equal(second(&s, 100, 800, 10, 10), 0);
}

static void names(void **state)
{
	assert_string_equal(gs_anomaly_name(GS_ANOMALY_CUT_SHORT), "cut-short");
	assert_string_equal(gs_anomaly_name(GS_ANOMALY_MAX), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cut_short),         cmocka_unit_test(bursts_and_ends),
		cmocka_unit_test(slow_ones),         cmocka_unit_test(reported_once),
		cmocka_unit_test(waits_are_not_odd), cmocka_unit_test(names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
