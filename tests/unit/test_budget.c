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
static struct gs_budget budgets[2]; /* of unknown GPUs, and of the host */
static struct gs_budget *const host = &budgets[1];
static struct gs_core core = { .opts = { .dilate = 1 }, .budgets = budgets };
static uint64_t fake_spent[FAKE_MS + 1]; /* time of all calls up to each ms of the test's time */

/* Acts as a policy that always has something to change, by calls of 1.5 ms. */
static void spend(unsigned int from_ms, unsigned int to_ms)
{
	for (unsigned int ms = from_ms; ms < to_ms; ms++) {
		uint64_t now = (ms + 1) * NS_PER_MS;
		bool go = !gs_budget_wait(&core, host, now, GS_QUEUE_POLICY);

		if (go)
			gs_budget_charge(&core, host, now, 3 * (int64_t)NS_PER_MS / 2);
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

/* Calls get 3 % of any 10 s, the first included, and any debt delays further calls. */
static void test_budget_holds_over_time(void **state)
{
	const int64_t debt = 400 * (int64_t)NS_PER_MS;
	const uint64_t now = 30000 * NS_PER_MS;

	gs_budget_init(host, true);
	spend(0, 30000);
	/* 25 ms from the bucket at once, and a fortieth of 1 s */
	assert_true(fake_spent[1000] >= 45 * NS_PER_MS);
	assert_true(most_in(0, 30000, 1000) <= 55 * NS_PER_MS);
	assert_true(most_in(1000, 30000, 1000) <= 28 * NS_PER_MS);
	assert_true(most_in(0, 30000, 10000) <= 300 * NS_PER_MS);
	/* calls use all of the budget */
	assert_true(fake_spent[30000] - fake_spent[1000] >= 715 * NS_PER_MS);
	/* a TSG's first call goes through; a user's does not */
	assert_int_equal(gs_budget_wait(&core, host, now, GS_QUEUE_FIRST), 0);
	assert_true(gs_budget_wait(&core, host, now, GS_QUEUE_USERS) > 400 * NS_PER_MS);

	gs_budget_charge(&core, host, now, debt); /* as if a person's calls had taken so long */
	assert_true(gs_budget_wait(&core, host, now, GS_QUEUE_FIRST) > 14 * NS_PER_S);
	spend(30000, FAKE_MS);
	/* a fortieth of 40 s, less the debt */
	assert_true(fake_spent[FAKE_MS] - fake_spent[30000] + (uint64_t)debt <= 1003 * NS_PER_MS);
	assert_true(fake_spent[FAKE_MS] - fake_spent[30000] + (uint64_t)debt >= 990 * NS_PER_MS);
}

static void reset_budgets(void)
{
	for (unsigned int i = 0; i < 2; i++)
		budgets[i] = (struct gs_budget){ .part = 20, .at = NS_PER_S };
}

/*
 * A call that hangs, or waits for a processor, does not use the GPU all the time, so only a part of
 * its time is charged: less of one that does not wait for the GPU.
 */
static void test_hanging_call(void **state)
{
	struct gs_plan plan = {
		.nsteps = 2,
		.estimate_ns = NS_PER_MS,
		.host_estimate_ns = NS_PER_MS,
		.steps = { { .op = GS_RM_SUSPEND }, { .op = GS_RM_SET_TIMESLICE } },
	};
	const struct gs_plan question = {
		.nsteps = 1,
		.check = true,
		.steps = { { .op = GS_RM_GET_TIMESLICE, .res.ns = 3 * NS_PER_MS } },
	};

	reset_budgets();
	plan.steps[0].res.ns = plan.steps[1].res.ns = 50 * NS_PER_S;
	gs_budget_settle(&core, &plan);
	assert_int_equal(host->left_ns, -22 * (int64_t)NS_PER_MS);
	plan.steps[0].res.ns = 3 * NS_PER_MS;
	plan.steps[1].res.err = -ECANCELED;
	gs_budget_settle(&core, &plan);
	assert_int_equal(host->left_ns, -24 * (int64_t)NS_PER_MS);
	/* RM answers this call from its own memory, with the locks held */
	gs_budget_settle(&core, &question);
	assert_int_equal(host->left_ns, -27 * (int64_t)NS_PER_MS);
	gs_budget_cancel(&core, &plan);
	assert_int_equal(host->left_ns, -26 * (int64_t)NS_PER_MS);
	assert_int_equal(budgets[0].left_ns, host->left_ns);
}

/* A mode and a preempt take the lock of their GPU only, but the proof before a mode takes all. */
static void test_calls_of_one_gpu(void **state)
{
	const struct gs_plan mode = {
		.nsteps = 2,
		.steps = { { .op = GS_RM_SET_PREEMPT_MODE,
			     .res = { .ns = 3 * NS_PER_MS, .proof_ns = NS_PER_MS } },
			   { .op = GS_RM_PREEMPT, .res.ns = 5 * NS_PER_MS } },
	};

	reset_budgets();
	gs_budget_settle(&core, &mode);
	assert_int_equal(budgets[0].left_ns, -8 * (int64_t)NS_PER_MS);
	assert_int_equal(host->left_ns, -1 * (int64_t)NS_PER_MS);
}

/* Calls that read a GPU's log do not wait for a budget, but are charged to both. */
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
	assert_true(gs_budget_wait(c, gs_core_host(c), now, GS_QUEUE_FIRST) > 0);
	gs_core_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_budget_holds_over_time),
		cmocka_unit_test(test_hanging_call),
		cmocka_unit_test(test_calls_of_one_gpu),
		cmocka_unit_test(test_calls_beside),
	};

	return cmocka_run_group_tests_name("budget", tests, NULL, NULL);
}
