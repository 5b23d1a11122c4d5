// SPDX-License-Identifier: MIT
/*
 * test_engine_unknown.c - check what the core does after calls that failed, in simulated time
 */
#include "core_world.h"

/*
 * After a failed call the owner's value is set until that succeeds, after 10, 20, 40 ms ... The engine
 * reports once that it gives up, and goes on once a minute.
 */
static void test_backoff(void **state)
{
	struct gpusched_tsg *t = new_tsg(1, 0);

	world.fail_op = GS_RM_SET_TIMESLICE;
	world.fail_err = -EREMOTEIO;
	world.fail_times = UINT32_MAX;
	want(t, GPUSCHED_TIMESLICE, 20);
	touch(t);
	pass(75 * NS_PER_MS);
	assert_int_equal(world.nlog, 5); /* the wish at 0; back at 0, 10, 30 and 70 ms */
	assert_int_equal(world.log[0].arg, 20);
	for (int i = 1; i < 5; i++)
		assert_int_equal(world.log[i].arg, 2048);
	pass(50 * NS_PER_S);
	assert_int_equal(world.nlog, 13);
	assert_in_range(world.log[12].ns - world.log[11].ns, 10 * NS_PER_S, 10100 * NS_PER_MS);
	assert_int_equal(counter(GS_ENG_GAVE_UP), 1);
	assert_int_equal(gpusched_unknown(t), GPUSCHED_TIMESLICE);
	assert_int_equal(world.overruled[GS_OVERRULE_UNKNOWN], 1);
	pass(600 * NS_PER_S);
	assert_int_equal(world.nlog, 23);
	assert_int_equal(counter(GS_ENG_GAVE_UP), 1);
	/* the wish is tried again after the owner's value is known to be set */
	world.fail_times = 0;
	pass(61 * NS_PER_S);
	assert_int_equal(world.log[23].arg, 2048);
	assert_int_equal(world.log[24].arg, 20);
	assert_int_equal(world.nlog, 25);
	assert_int_equal(gpusched_unknown(t), 0);
	t->task.want.valid = 0;
	touch(t);
	settle();
	assert_int_equal(t->changed, 0);
}

/* While a setting is unknown, a policy's other wishes wait; a resume does not. */
static void test_unknown_comes_first(void **state)
{
	struct gpusched_tsg *t = new_tsg(1, 0);

	want(t, GPUSCHED_RUNNABLE, 0);
	touch(t);
	settle();
	world.fail_op = GS_RM_SET_TIMESLICE;
	world.fail_err = -EREMOTEIO;
	world.fail_times = UINT32_MAX;
	want(t, GPUSCHED_TIMESLICE, 20);
	touch(t);
	pass(NS_PER_S);
	want(t, GPUSCHED_INTERLEAVE, 2);
	touch(t);
	pass(NS_PER_S);
	assert_int_equal(calls_of(1, GS_RM_SET_INTERLEAVE), 0);
	want(t, GPUSCHED_RUNNABLE, 1);
	touch(t);
	pass(10 * NS_PER_S);
	assert_int_equal(world.hw[0].runnable, 1);
	world.fail_times = 0;
	pass(30 * NS_PER_S);
	assert_int_equal(world.hw[0].interleave, 2);
	assert_int_equal(world.hw[0].timeslice_us, 20);
}

/* Its suspension failed and nothing is known to be changed: an enable is owed until one succeeds. */
static void test_owed_enable(void **state)
{
	struct gpusched_tsg *t = new_tsg(1, 0);

	want(t, GPUSCHED_RUNNABLE, 0);
	touch(t);
	settle();
	assert_true(t->flags & GPUSCHED_TSG_ENABLE_DUE);
	want(t, GPUSCHED_RUNNABLE, 1);
	touch(t);
	settle();
	assert_false(t->flags & GPUSCHED_TSG_ENABLE_DUE);
	assert_int_equal(calls_of(1, GS_RM_RESUME), 1);
	t->flags |= GPUSCHED_TSG_ENABLE_DUE;
	touch(t);
	settle();
	assert_int_equal(calls_of(1, GS_RM_RESUME), 2);
	assert_false(t->flags & GPUSCHED_TSG_ENABLE_DUE);
	touch(t);
	settle();
	assert_int_equal(calls_of(1, GS_RM_RESUME), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_backoff),
		T(test_unknown_comes_first),
		T(test_owed_enable),
	};

	return cmocka_run_group_tests_name("engine_unknown", tests, NULL, NULL);
}
