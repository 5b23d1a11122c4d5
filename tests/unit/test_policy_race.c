// SPDX-License-Identifier: MIT
/*
 * test_policy_race.c - check callbacks for one TSG on two CPUs at once
 *
 * A tick must not undo the decision of a callback that runs at the same time. Needs root, and is
 * skipped without it.
 */
#include <pthread.h>

#include "basic/clock.h"
#include "policy/stock.h"
#include "policy_fixture.h"

#define TIMES 5000

static struct gs_policy *policy;
static bool stop;
static uint64_t ticks;

static struct gpusched_run run(uint32_t op, const struct gpusched_key *key)
{
	struct gpusched_run r = { .op = op, .key = *key, .arg = 1 };

	assert_int_equal(gs_loaded_ask(&policy->loaded, &r), 0);
	return r;
}

static void *tick_all_the_time(void *arg)
{
	const struct gpusched_tsg *rec = arg;

	while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE)) {
		run(GPUSCHED_RUN_TICK, &rec->key);
		__atomic_add_fetch(&ticks, 1, __ATOMIC_ACQ_REL);
	}
	return NULL;
}

/* Waits until any round in progress has ended. */
static void wait_round(void)
{
	uint64_t until = __atomic_load_n(&ticks, __ATOMIC_ACQUIRE) + 1;

	while (__atomic_load_n(&ticks, __ATOMIC_ACQUIRE) < until)
		;
}

/* Only an admission ends a hold. */
static void test_hold_and_tick(void **state)
{
	struct gs_policy_exit x = { 0 };
	struct gs_error err = { 0 };
	struct gpusched_tsg rec, now;
	pthread_t thread;
	uint64_t lost = 0, stayed = 0;

	(void)state;
	NEED_TABLE();
	rec = fixture_tsg(1, GPUSCHED_CLASS_LC);
	if (fixture_start(fixture_source("holds"), NULL, NULL, &policy, &x, &err))
		fail_msg("%s", err.text);
	gs_ticker_pause(gs_stock_of(policy)); /* so that only this test starts rounds */
	assert_int_equal(pthread_create(&thread, NULL, tick_all_the_time, &rec), 0);
	for (int i = 0; i < TIMES; i++) {
		run(GPUSCHED_RUN_SCHEDULE, &rec.key);
		wait_round();
		now = fixture_get(&rec);
		lost += !(now.flags & GPUSCHED_TSG_HELD) ||
			!(now.task.want.valid & GPUSCHED_RUNNABLE) || now.task.want.runnable;
		run(GPUSCHED_RUN_TIMESLICE_SET, &rec.key);
		wait_round();
		now = fixture_get(&rec);
		stayed += (now.flags & GPUSCHED_TSG_HELD) ||
			  (now.task.want.valid & GPUSCHED_RUNNABLE);
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	assert_int_equal(lost, 0);
	assert_int_equal(stayed, 0);
	now = fixture_get(&rec);
	/* each word of priv has one writer, so no count is lost */
	assert_int_equal(now.task.priv[0], TIMES);
	assert_int_equal(now.task.priv[1], ticks);
	assert_int_equal(now.task.want.timeslice_us, 1000 + ticks % 2);
	gs_policy_stop(policy, GS_POLICY_EXIT_STOPPED);
	fixture_remove(&rec);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hold_and_tick),
	};

	return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
