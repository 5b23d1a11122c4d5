// SPDX-License-Identifier: MIT
/* test_engine_denied.c - check records of TSGs that RM no longer has */
#include "engine_setup.h"
#include "engine/restore.h"

static uint64_t ended; /* id of the TSG that the engine reports as ended */

static void on_denied(const struct gpusched_tsg *rec, void *user)
{
	ended = rec->task.id;
	gs_engine_forget(engine, &rec->key);
	fake.rec[rec->key.handle - 1].flags |= GPUSCHED_TSG_GONE;
}

static int begin(void **state)
{
	struct gs_engine_opts opts = {
		.size = sizeof(opts),
		.branch = 580,
		.switch_cost_us = 200,
		.on_denied = on_denied,
	};
	struct gs_error err = { 0 };

	fake_reset();
	ended = 0;
	return gs_engine_new((struct gs_table *)&fake, &opts, &engine, &err);
}

static void deny(const struct gpusched_tsg *t, unsigned int times)
{
	fake.denied = t->key.handle;
	fake.denied_times = times;
}

static void test_denied_twice(void **state)
{
	struct gpusched_tsg *t = fake_tsg(1, 0);

	deny(t, 2);
	fake_want(t, GPUSCHED_TIMESLICE, 20);
	gs_engine_touch(engine, &t->key);
	run_until(ended == 1);
	assert_int_equal(fake_count(1, GS_RM_SET_TIMESLICE), 1);
	assert_int_equal(fake_count(1, GS_RM_GET_TIMESLICE), 1);
	assert_int_equal(counter(GS_ENG_DENIED), 1);
}

static void test_denied_once(void **state)
{
	struct gpusched_tsg *t = fake_tsg(1, 0);

	deny(t, 1);
	fake_want(t, GPUSCHED_TIMESLICE, 20);
	gs_engine_touch(engine, &t->key);
	/* RM has the TSG again: the engine retries the call */
	run_until(fake.hw[0].timeslice_us == 20);
	settle();
	assert_int_equal(ended, 0);
	assert_int_equal(counter(GS_ENG_DENIED), 0);
}

/*
 * The TSG's descriptor may refer to another file by now, so RM's "no such object" does not prove
 * that the TSG is gone.
 */
static void test_denied_elsewhere(void **state)
{
	struct gpusched_tsg *t = fake_tsg(1, 0);

	fake.elsewhere = true;
	deny(t, 1000);
	fake_want(t, GPUSCHED_TIMESLICE, 20);
	gs_engine_touch(engine, &t->key);
	run_for(500);
	assert_int_equal(ended, 0);
	/* RM is asked once, not again and again */
	assert_int_equal(fake_count(1, GS_RM_GET_TIMESLICE), 1);
}

static void test_other_refusals(void **state)
{
	struct gpusched_tsg *t = fake_tsg(1, 0);

	fake.fail_op = GS_RM_SET_TIMESLICE;
	fake.fail_err = -EREMOTEIO;
	fake.fail_times = 5;
	fake_want(t, GPUSCHED_TIMESLICE, 20);
	gs_engine_touch(engine, &t->key);
	run_until(fake.hw[0].timeslice_us == 20);
	assert_int_equal(ended, 0);
	assert_int_equal(fake_count(1, GS_RM_GET_TIMESLICE), 0);
}

/*
 * No tap saw the old TSG's end, as after a checkpoint. When its client makes a new TSG, the engine
 * asks RM about the old one, even without a wish for it.
 */
static void test_new_sibling(void **state)
{
	struct gpusched_tsg *old = fake_tsg(1, 0), *other = fake_tsg(2, 0), *empty = fake_tsg(4, 0);
	struct gpusched_tsg *new;

	old->task.created_ns = other->task.created_ns = empty->task.created_ns = 0;
	empty->key.client = old->key.client;
	empty->flags |= GPUSCHED_TSG_EMPTY;
	gs_engine_touch_all(engine);
	run_for(50);
	assert_int_equal(fake.nlog, 0);
	deny(old, 2);
	new = fake_tsg(3, 0);
	new->key.client = old->key.client;
	gs_engine_touch(engine, &new->key);
	run_until(ended == 1);
	assert_int_equal(fake_count(2, GS_RM_GET_TIMESLICE), 0); /* a TSG of another client */
	assert_int_equal(fake_count(4, GS_RM_GET_TIMESLICE), 0); /* nothing can run in it */
	assert_int_equal(fake_count(3, GS_RM_GET_TIMESLICE), 0);
}

static void test_restore(void **state)
{
	struct gs_restored res;
	struct gs_error err = { 0 };
	struct gpusched_tsg *t = fake_tsg(1, 0);

	t->changed = t->task.is.valid = GPUSCHED_TIMESLICE;
	deny(t, 2);
	assert_int_equal(gs_restore((struct gs_table *)&fake, 580, &res, &err), 0);
	assert_int_equal(fake.ended, 1);
	assert_int_equal(res.gone, 1);
}

static void test_restore_denied_elsewhere(void **state)
{
	struct gs_restored res;
	struct gs_error err = { 0 };
	struct gpusched_tsg *t = fake_tsg(1, 0);

	t->changed = t->task.is.valid = GPUSCHED_TIMESLICE;
	fake.elsewhere = true;
	deny(t, 1000);
	gs_restore((struct gs_table *)&fake, 580, &res, &err);
	assert_int_equal(fake.ended, 0);
}

#define B(fn) cmocka_unit_test_setup_teardown(fn, begin, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		B(test_denied_twice),
		B(test_denied_once),
		B(test_denied_elsewhere),
		B(test_other_refusals),
		B(test_new_sibling),
		B(test_restore),
		B(test_restore_denied_elsewhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
