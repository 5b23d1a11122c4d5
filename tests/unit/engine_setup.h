/* SPDX-License-Identifier: MIT */
/* engine_setup.h - make a new engine on the fake table for each test */
#ifndef GPUSCHED_TESTS_ENGINE_SETUP_H
#define GPUSCHED_TESTS_ENGINE_SETUP_H

#include "engine_fake.h"

static struct gs_engine *engine;
static unsigned int told, told_dry;

static void on_call(const struct gs_engine_call *call, void *user)
{
	told++;
	told_dry += call->dry_run;
	assert_non_null(gs_rm_op_name(call->op));
}

static uint32_t hold_limit_ms;

static void make_engine(bool dry_run)
{
	static const struct gs_gpu gpus[2] = { { .index = 0 }, { .index = 1 } };
	struct gs_engine_opts opts = {
		.size = sizeof(opts),
		.dry_run = dry_run,
		.branch = 580,
		.gpus = gpus,
		.ngpus = 2,
		.switch_cost_us = 200,
		.hold_limit_ms = hold_limit_ms,
		.on_call = on_call,
	};
	struct gs_error err = { 0 };

	assert_int_equal(gs_engine_new((struct gs_table *)&fake, &opts, &engine, &err), 0);
}

static inline int setup(void **state)
{
	fake_reset();
	told = told_dry = 0;
	hold_limit_ms = 0;
	make_engine(false);
	return 0;
}

static int teardown(void **state)
{
	gs_engine_free(engine);
	return 0;
}

/* Runs the loop for a while, whether the engine has settled or not. */
static inline void run_for(unsigned int ms)
{
	uint64_t end = gs_now_ns() + ms * NS_PER_MS;

	while (gs_now_ns() < end) {
		gs_engine_dispatch(engine);
		gs_sleep_ns(NS_PER_MS);
	}
}

/* Runs the loop until the condition is true. */
#define run_until(cond) \
	do { \
		for (int tries_ = 0; tries_ < 10000 && !(cond); tries_++) \
			run_for(1); \
		assert_true(cond); \
	} while (0)

static inline void settle(void)
{
	run_until(gs_engine_idle(engine));
}

static inline uint64_t counter(enum gs_engine_counter c)
{
	return gs_engine_counter(engine, c);
}

#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

#endif /* GPUSCHED_TESTS_ENGINE_SETUP_H */
