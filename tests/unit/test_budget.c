// SPDX-License-Identifier: MIT
/* test_budget.c - check the budget for control calls, with a simulated clock */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "basic/clock.h"
#include "engine/core_priv.h"

#define FAKE_MS 70000u
static struct gs_budget budget;
static struct gs_core core = { .opts = { .dilate = 1 }, .budgets = &budget };
static uint64_t fake_spent[FAKE_MS + 1]; /* time of all calls up to each ms of the test's time */

/* Acts as a policy that always has something to change, by calls of 1.5 ms. */
static void spend(unsigned int from_ms, unsigned int to_ms)
{
	for (unsigned int ms = from_ms; ms < to_ms; ms++) {
		uint64_t now = (ms + 1) * NS_PER_MS;
		bool go = !gs_budget_wait(&core, &budget, now, GS_QUEUE_POLICY);

		if (go)
			gs_budget_charge(&core, &budget, now, 3 * (int64_t)NS_PER_MS / 2);
		fake_spent[ms + 1] = fake_spent[ms] + (go ? 3 * NS_PER_MS / 2 : 0);
	}
}

/* Returns the most time that calls took in any @len ms. */
static uint64_t most_in(unsigned int from_ms, unsigned int to_ms, unsigned int len)
{
	uint64_t most = 0;

	for (unsigned int ms = from_ms; ms + len <= to_ms; ms++)
		if (fake_spent[ms + len] - fake_spent[ms] > most)
			most = fake_spent[ms + len] - fake_spent[ms];
	return most;
}

/*
 * Once the bucket is empty, calls get a twentieth of the time, and any debt delays further calls.
 */
static void test_budget_holds_over_time(void **state)
{
	const int64_t debt = 400 * (int64_t)NS_PER_MS;
	const uint64_t now = 30000 * NS_PER_MS;

	spend(0, 30000);
	/* 25 ms from the bucket at once, and 5 % of 1 s */
	assert_true(fake_spent[1000] >= 70 * NS_PER_MS);
	assert_true(most_in(0, 30000, 1000) <= 80 * NS_PER_MS);
	assert_true(most_in(1000, 30000, 1000) <= 53 * NS_PER_MS);
	assert_true(most_in(1000, 30000, 10000) <= 503 * NS_PER_MS);
	/* calls use all of the budget */
	assert_true(fake_spent[30000] - fake_spent[1000] >= 1440 * NS_PER_MS);
	/* a TSG's first call goes through; a user's does not */
	assert_int_equal(gs_budget_wait(&core, &budget, now, GS_QUEUE_FIRST), 0);
	assert_true(gs_budget_wait(&core, &budget, now, GS_QUEUE_USERS) > 200 * NS_PER_MS);

	gs_budget_charge(&core, &budget, now, debt); /* as if a person's calls had taken so long */
	assert_true(gs_budget_wait(&core, &budget, now, GS_QUEUE_FIRST) > 7 * NS_PER_S);
	spend(30000, FAKE_MS);
	/* a twentieth of 40 s, less the debt */
	assert_true(fake_spent[FAKE_MS] - fake_spent[30000] + (uint64_t)debt <= 2003 * NS_PER_MS);
	assert_true(fake_spent[FAKE_MS] - fake_spent[30000] + (uint64_t)debt >= 1990 * NS_PER_MS);
}

/*
 * A call that hangs, or waits for a processor, does not use the GPU all the time, so only a part of
 * its time is charged.
 */
static void test_hanging_call(void **state)
{
	const struct gs_plan plan = { .nsteps = 2, .estimate_ns = NS_PER_MS };
	const struct gs_plan question = { .nsteps = 1, .check = true };

	budget = (struct gs_budget){ .left_ns = 0, .at = NS_PER_S };
	gs_budget_settle(&core, &plan, 100 * NS_PER_S);
	assert_int_equal(budget.left_ns, -39 * (int64_t)NS_PER_MS);
	gs_budget_settle(&core, &plan, 3 * NS_PER_MS);
	assert_int_equal(budget.left_ns, -41 * (int64_t)NS_PER_MS);
	/* RM answers this call from its own memory, without the GPU */
	gs_budget_settle(&core, &question, 3 * NS_PER_MS);
	assert_int_equal(budget.left_ns, -41 * (int64_t)NS_PER_MS);
}

/* Calls that read a GPU's log do not wait for the budget, but their time is charged to it. */
static void test_calls_beside(void **state)
{
	const struct gs_core_opts opts = { .ngpus = 2 };
	struct gs_core *c = gs_core_new(&opts);
	uint64_t now = NS_PER_S;

	assert_non_null(c);
	for (unsigned int i = 0; i < 100;
	     i++) /* 60 ms: more than the bucket has, and gains meanwhile */
		gs_core_spent(c, 1, 600 * NS_PER_US, now += NS_PER_MS);
	assert_int_equal(c->counters[GS_ENG_BESIDE_NS], 60 * NS_PER_MS);
	assert_true(gs_budget_wait(c, &c->budgets[1], now, GS_QUEUE_FIRST) > 0);
	assert_int_equal(gs_budget_wait(c, &c->budgets[0], now, GS_QUEUE_FIRST), 0);
	gs_core_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_budget_holds_over_time),
		cmocka_unit_test(test_hanging_call),
		cmocka_unit_test(test_calls_beside),
	};

	return cmocka_run_group_tests_name("budget", tests, NULL, NULL);
}
