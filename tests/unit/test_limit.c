// SPDX-License-Identifier: MIT
/* test_limit.c - check that gpusched/limit.h keeps a group to its part of the time */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "gpusched/limit.h"

#define MS 1000000ull
#define ROUND_MS 10u

/*
 * A group that works for busy_pct of the time in which it may run. The log is read every 33 ms, and
 * is then 17 ms old.
 */
struct world {
	struct gpusched_throttle throttle;
	uint64_t now_ms, as_of_ms;
	uint64_t used_of[64]; /* work of each round that the log has not shown yet, ns */
	unsigned int pct, busy_pct, late_ms;
	int runs, stays_loaded;
	uint64_t worked_ns;
};

/* Returns the percentage of @ms in which the group worked. */
static double run(struct world *w, unsigned int ms)
{
	uint64_t before = w->worked_ns, end = w->now_ms + ms;

	while (w->now_ms < end) {
		struct gpusched_throttle_round r = { .pct = w->pct, .may_run = (gs_u32)w->runs };
		uint64_t work = w->runs ? ROUND_MS * MS * w->busy_pct / 100 : 0;

		w->worked_ns += work;
		w->used_of[w->now_ms / ROUND_MS % 64] =
			w->runs || !w->stays_loaded ? work : ROUND_MS * MS;
		w->now_ms += ROUND_MS;
		if (w->now_ms >= w->as_of_ms + w->late_ms + 33) {
			uint64_t to = (w->now_ms - w->late_ms) / ROUND_MS * ROUND_MS;

			for (; w->as_of_ms < to; w->as_of_ms += ROUND_MS)
				r.used_ns += w->used_of[w->as_of_ms / ROUND_MS % 64];
		}
		r.now_ns = w->now_ms * MS;
		r.as_of_ns = w->as_of_ms * MS;
		w->runs = !gpusched_throttle(&w->throttle, &r);
	}
	return (double)(w->worked_ns - before) * 100 / (ms * 1e6);
}

static struct world world(unsigned int pct, unsigned int busy_pct)
{
	return (struct world){ .now_ms = 1000,
			       .as_of_ms = 1000,
			       .pct = pct,
			       .busy_pct = busy_pct,
			       .late_ms = 17,
			       .runs = 1 };
}

static void assert_near(double got, double want, double off)
{
	if (got < want - off || got > want + off)
		fail_msg("%g is not %g, give or take %g", got, want, off);
}

static void test_busy(void **state)
{
	for (unsigned int pct = 10; pct <= 90; pct += 20) {
		struct world w = world(pct, 100);

		run(&w, 1000);
		for (int i = 0; i < 9; i++)
			assert_near(run(&w, 1000), pct, 5);
		assert_near(run(&w, 10000), pct, 1);
	}
}

/* A group that works less than its limit is never paused. */
static void test_below(void **state)
{
	struct world w = world(50, 40);

	run(&w, 2000);
	assert_near(run(&w, 5000), 40, 0.1);
}

/* A group with a limit of 25 %, which beside others gets half of the time in which it may run. */
static void test_beside(void **state)
{
	struct world w = world(25, 50);

	run(&w, 1000);
	assert_near(run(&w, 10000), 25, 2);
}

/* Others leave the group little more than its limit: work that the log shows late still counts. */
static void test_little_more(void **state)
{
	for (unsigned int busy = 11; busy <= 16; busy++) {
		struct world w = world(10, busy);

		run(&w, 1000);
		assert_near(run(&w, 20000), 10, 0.3);
	}
}

static void test_hundred(void **state)
{
	struct world w = world(100, 100);

	assert_near(run(&w, 5000), 100, 0.1);
}

/* The group's context stays loaded while it is suspended, since no other TSG has work. */
static void test_stays_loaded(void **state)
{
	struct world w = world(50, 100);

	w.stays_loaded = 1;
	run(&w, 1000);
	assert_near(run(&w, 10000), 50, 5);
}

/* A minute without work does not let the group exceed its limit afterwards. */
static void test_saves_nothing(void **state)
{
	struct world w = world(50, 0);

	run(&w, 60000);
	w.busy_pct = 100;
	assert_near(run(&w, 1000), 50, 5);
}

/* If the log has shown nothing for long, use is unknown, and no group is paused. */
static void test_no_log(void **state)
{
	struct world w = world(10, 100);

	w.late_ms = 100000;
	assert_near(run(&w, 5000), 100, 6);
}

/* After a gap in the rounds, the throttle begins anew. */
static void test_gap(void **state)
{
	struct world w = world(50, 100);

	run(&w, 1000);
	w.now_ms += 60000;
	w.as_of_ms = w.now_ms;
	run(&w, 500);
	assert_near(run(&w, 5000), 50, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_busy),          cmocka_unit_test(test_below),
		cmocka_unit_test(test_beside),        cmocka_unit_test(test_hundred),
		cmocka_unit_test(test_little_more),   cmocka_unit_test(test_stays_loaded),
		cmocka_unit_test(test_saves_nothing), cmocka_unit_test(test_no_log),
		cmocka_unit_test(test_gap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
