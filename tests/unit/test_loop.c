/* SPDX-License-Identifier: MIT */
/* test_loop.c - check that timers which can wait a little wake the loop together */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "basic/clock.h"
#include "hub/loop.h"

#define TIMERS 5
#define RUNS 3 /* of each timer, one a second */

struct timer {
	sd_event_source *src;
	uint64_t planned_ns;
	unsigned int runs;
};

static int on_due(sd_event_source *src, uint64_t us, void *user)
{
	struct timer *t = user;

	(void)us;
	/* never earlier than said; how much later depends on the machine */
	assert_true(gs_now_ns() + NS_PER_S / 8 + NS_PER_MS >= t->planned_ns);
	t->runs++;
	t->planned_ns = gs_now_ns() + NS_PER_S;
	gs_loop_plan_about(src, t->planned_ns);
	return 0;
}

static void test_timers_come_together(void **state)
{
	struct timer timers[TIMERS] = { 0 };
	unsigned int wakes = 0;
	sd_event *e = NULL;
	uint64_t began;

	(void)state;
	assert_true(sd_event_new(&e) >= 0);
	began = gs_now_ns();
	for (size_t i = 0; i < TIMERS; i++) {
		struct timer *t = &timers[i];

		assert_true(sd_event_add_time(e, &t->src, CLOCK_MONOTONIC, 0, 1, on_due, t) >= 0);
		t->planned_ns = began + NS_PER_S + i * 45 * NS_PER_MS;
		gs_loop_plan_about(t->src, t->planned_ns);
	}
	while (timers[TIMERS - 1].runs < RUNS) {
		int r = sd_event_prepare(e);

		if (!r) {
			wakes++;
			r = sd_event_wait(e, UINT64_MAX);
		}
		if (r > 0)
			assert_true(sd_event_dispatch(e) >= 0);
	}
	/* each for itself, they would come fifteen times */
	assert_in_range(wakes, 1, 3 * RUNS);
	for (size_t i = 0; i < TIMERS; i++) {
		assert_in_range(timers[i].runs, RUNS - 1, RUNS + 1);
		sd_event_source_disable_unref(timers[i].src);
	}
	sd_event_unref(e);
}

/* A timer that was planned about a time once is exact again when its time is set. */
static void test_exact_again(void **state)
{
	sd_event_source *src = NULL;
	struct timer t = { 0 };
	sd_event *e = NULL;
	uint64_t us;

	(void)state;
	assert_true(sd_event_new(&e) >= 0);
	assert_true(sd_event_add_time(e, &src, CLOCK_MONOTONIC, 0, 7, on_due, &t) >= 0);
	gs_loop_plan(src, gs_now_ns() + NS_PER_S);
	assert_true(sd_event_source_get_time_accuracy(src, &us) >= 0);
	assert_int_equal(us, 7); /* its own stays */
	gs_loop_plan_about(src, gs_now_ns() + NS_PER_S);
	assert_true(sd_event_source_get_time_accuracy(src, &us) >= 0);
	assert_int_equal(us, 250000);
	gs_loop_plan(src, gs_now_ns() + NS_PER_S);
	assert_true(sd_event_source_get_time_accuracy(src, &us) >= 0);
	assert_in_range(us, 1, 1000);
	sd_event_source_disable_unref(src);
	sd_event_unref(e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_timers_come_together),
		cmocka_unit_test(test_exact_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
