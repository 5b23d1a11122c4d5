// SPDX-License-Identifier: MIT
/* test_auto.c - check the policy auto's headers in plain C: costs, guess, slice, work */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "../../policies/auto/guess.h"
#include "../../policies/auto/slice.h"
#include "../../policies/common/work.h"

#define US 1000ull

static struct costs h200(void)
{
	struct gpusched_gpu gpu = { 0 };
	struct costs c;

	monitor_learn_costs(&c, &gpu, 0);
	return c;
}

static void test_costs(void **state)
{
	struct gpusched_gpu gpu = { .known = GPUSCHED_GPU_SAVE | GPUSCHED_GPU_SWITCH,
				    .switch_us = 90,
				    .save_us = 90 };
	struct costs c = h200();

	assert_int_equal(c.switch_us, 175);
	assert_int_equal(c.waste_pct, 10);
	/* measured costs within a tenth of the built-in ones: the built-in costs stay */
	monitor_learn_costs(&c, &gpu, 0);
	assert_int_equal(c.switch_us, 175);
	/*
	 * switches cost three times as much: they may take a larger part of the time, up to a limit
	 */
	gpu.switch_us = 270;
	gpu.save_us = 270;
	monitor_learn_costs(&c, &gpu, 0);
	assert_int_equal(c.switch_us, 540);
	assert_int_equal(c.turn_ns, 270 * 1200);
	assert_in_range(c.waste_pct, 11, 25);
	monitor_learn_costs(&c, &gpu, 3);
	assert_int_equal(c.waste_pct, 3);
	assert_true(costs_grown_us(&c) > c.switch_us);
	assert_false(costs_are_long(&c, 100 * US, 1));
	assert_true(costs_are_long(&c, 5000 * US, 1));
}

/*
 * Makes @n looks, 300 ms apart. Between two looks the TSG has @cut and @drained turns, and holds
 * the GPU for @held_ms. Returns how often the verdict changed.
 */
static unsigned int looks(struct guess *g, struct gpusched_facts *f, unsigned int n, uint64_t cut,
			  uint64_t drained, uint64_t held_ms)
{
	struct costs c = h200();
	unsigned int changes = 0;

	while (n--) {
		f->as_of_ns += 300 * GS_MS;
		f->held_ns += held_ms * GS_MS;
		f->slice_ended += cut;
		f->drained += drained;
		changes += guess_look(g, f, &c, 0) != 0;
	}
	return changes;
}

static void test_guess(void **state)
{
	struct gpusched_facts f = { .since_ns = 1, .as_of_ns = 1 };
	struct guess g = { 0 };

	/* the first look only begins; a verdict then takes STEADY looks with the same result */
	looks(&g, &f, STEADY, 100, 0, 200);
	assert_int_equal(g.verdict, NOTHING);
	assert_int_equal(g.leaning, BE);
	assert_int_equal(looks(&g, &f, 1, 100, 0, 200), 0);
	assert_int_equal(g.verdict, BE);
	/*
	 * fewer than STEADY different looks change nothing; a look that agrees restarts the count
	 */
	looks(&g, &f, STEADY - 1, 0, 100, 20);
	looks(&g, &f, 1, 100, 0, 200);
	looks(&g, &f, STEADY - 1, 0, 100, 20);
	assert_int_equal(g.verdict, BE);
	/* this look changes the verdict, and the function says so */
	assert_int_equal(looks(&g, &f, 1, 0, 100, 20), 1);
	assert_int_equal(g.verdict, LC);
}

static void test_guess_nothing(void **state)
{
	struct gpusched_facts f = { .since_ns = 1, .as_of_ns = 1 };
	struct guess g = { 0 };

	/*
	 * First all turns drain, but the TSG has most of the GPU. Then it is alone, and no turn
	 * ends.
	 */
	looks(&g, &f, 3 * STEADY, 0, 100, 250);
	assert_int_equal(g.verdict, NOTHING);
	looks(&g, &f, 3 * STEADY, 0, 0, 300);
	assert_int_equal(g.verdict, NOTHING);
	/* A launch-bound service, which returns at once after most turns, gets no verdict. */
	for (unsigned int i = 0; i < 3 * STEADY; i++) {
		f.returns += 90;
		looks(&g, &f, 1, 0, 100, 20);
	}
	assert_int_equal(g.verdict, NOTHING);
}

/* The sums of a log that is opened again begin at 0. */
static void test_guess_anew(void **state)
{
	struct gpusched_facts f = { .since_ns = 1, .as_of_ns = 1 };
	struct guess g = { 0 };

	looks(&g, &f, STEADY, 100, 0, 200);
	memset(&f, 0, sizeof(f));
	f.since_ns = f.as_of_ns = 20 * GS_S;
	looks(&g, &f, 1, 100, 0, 200);
	assert_int_equal(g.looks, STEADY - 1);
	assert_int_equal(g.slice_ended, 100);
}

static struct slice_seen service(uint64_t turns, uint64_t work_us, uint64_t lost_permille)
{
	return (struct slice_seen){ .span_ns = 250 * GS_MS,
				    .lost_permille = lost_permille,
				    .lc_work_ns = turns * work_us * US,
				    .lc_turns = turns,
				    .least_us = 1,
				    .ready = 1,
				    .lc = 1,
				    .settled = 1 };
}

static void look(struct slice *s, struct slice_seen *in)
{
	struct costs c = h200();

	in->now_ns += 250 * GS_MS;
	slice_fit(s, in, &c);
}

/*
 * Beside a service without a class, the slice grows while too much time is lost in switches, up to
 * the driver's default.
 */
static void test_slice_grows(void **state)
{
	struct slice_seen in = service(100, 100, 300);
	struct costs c = h200();
	struct slice s = { .us = 1 };

	look(&s, &in);
	look(&s, &in);
	assert_int_equal(s.us, 1);
	look(&s, &in);
	assert_int_equal(s.us, costs_grown_us(&c));
	for (unsigned int i = 0; i < 100; i++)
		look(&s, &in);
	assert_int_equal(s.us, slice_longest_us(&in, &c));
	/* the slice is short again some time after the loss has gone */
	in.lost_permille = 0;
	look(&s, &in);
	assert_true(s.us > 1);
	for (unsigned int i = 0; i < 300 && s.us > 1; i++)
		look(&s, &in);
	assert_int_equal(s.us, 1);
}

/* A service of class lc comes first: time lost in its own turns does not make the slice grow. */
static void test_slice_first(void **state)
{
	struct slice_seen in = service(400, 100, 300);
	struct slice s = { .us = 1 };

	in.lc_classed = 1;
	for (unsigned int i = 0; i < 20; i++)
		look(&s, &in);
	assert_int_equal(s.us, 1);
	assert_int_equal(s.work_us, 100);
}

/* Looks change nothing while TSGs come and go, or during holds. */
static void test_slice_waits(void **state)
{
	struct slice_seen in = service(100, 100, 300);
	struct slice s = { .us = 1 };

	in.settled = 0;
	in.held = 1;
	for (unsigned int i = 0; i < 20; i++)
		look(&s, &in);
	assert_int_equal(s.us, 1);
	assert_int_equal(s.work_us, 0);
}

/* A service seems launch-bound: a trial with a longer slice shows whether it is. */
static void trial(uint64_t work_us_in_trial, int serial)
{
	struct slice_seen in = service(200, 50, 100);
	struct costs c = h200();
	struct slice s = { .us = 1 };

	in.lc_classed = 1;
	in.lc_returns = 190;
	look(&s, &in);
	assert_int_equal(s.trial_ns, in.now_ns);
	assert_int_equal(s.us, costs_grown_us(&c));
	in.lc_work_ns = in.lc_turns * work_us_in_trial * US;
	look(&s, &in);
	assert_int_equal(s.trial_ns, 0);
	assert_int_equal(s.serial, serial);
	assert_int_equal(s.launch_bound, !serial);
	assert_int_equal(s.us, serial ? 1 : costs_grown_us(&c));
	assert_int_equal(s.next_trial_ns, in.now_ns + TRIAL_AGAIN_NS);
	slice_lc_ended(&s);
	assert_int_equal(s.launch_bound + s.serial + s.next_trial_ns, 0);
}

static void test_slice_trial(void **state)
{
	trial(100, 0); /* twice the work in a turn: launch-bound */
	trial(50, 1);  /* the same work in a turn: it waits for each turn's end */
}

/* The driver's round is a multiple of the slice's round; the slice is never shorter than asked. */
static void test_slice_in_step(void **state)
{
	struct slice_seen in = { .ready = 1 };
	struct costs c = h200();
	uint64_t trip = costs_round_trip_us(&c),
		 all = (slice_longest_us(&in, &c) + trip) * 102 / 100;

	for (uint64_t us = 100; us + trip <= all; us += 37) {
		uint64_t step = slice_in_step_us(&in, &c, us), n = all / (step + trip);

		assert_true(step >= us);
		assert_true(all - n * (step + trip) < n);
	}
}

/* Adds turns that ended with the slice, and turns that drained, at the time @ms. */
static void turns(struct work *w, struct gpusched_facts *f, uint64_t cut, uint64_t dry, uint64_t ms)
{
	f->slice_ended += cut;
	f->drained += dry;
	f->as_of_ns = ms * GS_MS;
	work_look(w, f);
}

static void test_work(void **state)
{
	struct gpusched_facts f = { .since_ns = 1 };
	struct work w = { 0 };

	turns(&w, &f, 0, 0, 10);
	assert_int_equal(w.verdict, WORK_UNKNOWN);
	assert_false(work_is_known(&w));
	turns(&w, &f, 4, 0, 20);
	assert_int_equal(w.verdict, WORK_UNKNOWN); /* too few turns */
	turns(&w, &f, 4, 0, 30);
	assert_true(work_is_known(&w));
	assert_false(work_is_old(&w, 2000 * GS_MS));
	assert_true(work_is_old(&w, 4000 * GS_MS));
	/* confirmed when it was old: the verdict holds for longer now */
	turns(&w, &f, 4, 0, 4000);
	assert_false(work_is_old(&w, 9000 * GS_MS));
	assert_true(work_is_old(&w, 11000 * GS_MS));
	/* a quarter of its turns drain: it rests */
	for (int i = 0; i < 20; i++)
		turns(&w, &f, 3, 1, 9000);
	assert_int_equal(w.verdict, WORK_RESTS);
	/* one that drained once in a long time still works */
	for (int i = 0; i < 20; i++)
		turns(&w, &f, 40, 1, 9000);
	assert_true(work_is_known(&w));
	/* the account began anew: its sums say nothing about the time before */
	f = (struct gpusched_facts){ .since_ns = 2 };
	turns(&w, &f, 0, 100, 9500);
	assert_true(work_is_known(&w));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_costs),       cmocka_unit_test(test_work),
		cmocka_unit_test(test_guess),       cmocka_unit_test(test_guess_nothing),
		cmocka_unit_test(test_guess_anew),  cmocka_unit_test(test_slice_grows),
		cmocka_unit_test(test_slice_first), cmocka_unit_test(test_slice_waits),
		cmocka_unit_test(test_slice_trial), cmocka_unit_test(test_slice_in_step),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
