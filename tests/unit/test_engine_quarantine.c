// SPDX-License-Identifier: MIT
/* test_engine_quarantine.c - check that nobody's policy touches what did not bear it */
#include "core_world.h"
#include "engine/quarantine.h"

#define IN_QUARANTINE (1u << GS_OVERRULE_QUARANTINE)
#define APART (1u << GS_OVERRULE_APART)

static const struct gs_news in = { .quarantine = true }, out = { .unquarantine = true };

static uint32_t why(const struct gpusched_tsg *t)
{
	return gs_core_overruled(world.core, &t->key);
}

static const struct gpusched_settings *hw(const struct gpusched_tsg *t)
{
	return &world.hw[t - world.rec];
}

static void test_no_policy_suspends_it(void **state)
{
	struct gpusched_tsg *t = new_tsg(1, 0);

	want(t, GPUSCHED_RUNNABLE, 0);
	touch(t);
	settle();
	assert_int_equal(hw(t)->runnable, 0);
	tell(t, &in);
	settle();
	assert_int_equal(hw(t)->runnable, 1);
	assert_int_equal(why(t), IN_QUARANTINE);
	assert_int_equal(counter(GS_ENG_REFUSED_QUARANTINE), 1);
	touch(t);
	pass(NS_PER_S);
	assert_int_equal(hw(t)->runnable, 1);
	assert_int_equal(counter(GS_ENG_REFUSED_QUARANTINE), 1);
	tell(t, &out);
	pass(NS_PER_S);
	assert_int_equal(hw(t)->runnable, 0);
	assert_int_equal(why(t) & IN_QUARANTINE, 0);
}

static void test_it_stays_in_cilp_and_keeps_its_short_slice(void **state)
{
	struct gpusched_tsg *t = new_tsg(1, 0);

	tell(t, &in);
	want(t, GPUSCHED_PREEMPT_MODE, 1);
	want(t, GPUSCHED_TIMESLICE, 1);
	touch(t);
	settle();
	assert_int_equal(hw(t)->preempt_mode, GPUSCHED_PREEMPT_CILP);
	assert_int_equal(hw(t)->timeslice_us, 1);
	assert_int_equal(calls_of(1, GS_RM_SET_PREEMPT_MODE), 0);
	assert_int_equal(why(t), 1u << GS_OVERRULE_MODE); /* that law comes first */
}

static void test_persons_and_budgets_may(void **state)
{
	const struct gs_news spent = { .spent = true };
	struct gpusched_tsg *t = new_tsg(1, 0), *u = new_tsg(2, 0);

	tell(t, &in);
	tell(u, &in);
	gs_field_put(&t->manual, GPUSCHED_RUNNABLE, 0);
	touch(t);
	tell(u, &spent);
	settle();
	assert_int_equal(hw(t)->runnable, 0);
	assert_int_equal(hw(u)->runnable, 0);
}

static void test_it_is_admitted_unless_the_gate_stopped_it(void **state)
{
	struct gpusched_tsg *t = new_tsg(1, 0);

	t->flags |= GPUSCHED_TSG_HELD;
	touch(t);
	settle();
	assert_int_equal(hw(t)->runnable, 0);
	tell(t, &in);
	settle();
	assert_int_equal(hw(t)->runnable, 1);
	assert_int_equal(t->flags & GPUSCHED_TSG_HELD, 0);
}

/* ---- failed calls ---------------------------------------------------------------------------- */

static void fail_once(int err)
{
	world.fail_op = GS_RM_SUSPEND;
	world.fail_err = err;
	world.fail_times = 1;
}

static void test_a_failed_suspend_ends_the_wishes(void **state)
{
	struct gpusched_tsg *t = new_tsg(1, 0);

	fail_once(-EREMOTEIO);
	want(t, GPUSCHED_RUNNABLE, 0);
	want(t, GPUSCHED_TIMESLICE, 100);
	touch(t);
	pass(NS_PER_S);
	assert_int_equal(calls_of(1, GS_RM_SUSPEND), 1);
	assert_int_equal(hw(t)->runnable, 1);
	assert_int_equal(hw(t)->timeslice_us, 2048);
	assert_int_equal(why(t), APART);
	assert_int_equal(counter(GS_ENG_SET_APART), 1);
	pass(58 * NS_PER_S);
	assert_int_equal(calls_of(1, GS_RM_SUSPEND), 1);
	pass(2 * NS_PER_S);
	assert_int_equal(calls_of(1, GS_RM_SUSPEND), 2);
	assert_int_equal(hw(t)->runnable, 0);
	assert_int_equal(why(t) & APART, 0);
}

/* It has its own slice, and would get the time that others lose by shorter ones. */
static void test_no_short_slice_beside_one_left_alone(void **state)
{
	struct gpusched_tsg *t = new_tsg(1, 0), *beside = new_tsg(2, 0);

	want(beside, GPUSCHED_TIMESLICE, 1);
	touch(beside);
	settle();
	assert_int_equal(hw(beside)->timeslice_us, 1);
	fail_once(-EREMOTEIO);
	want(t, GPUSCHED_RUNNABLE, 0);
	touch(t);
	pass(NS_PER_S);
	assert_int_equal(why(t), APART);
	assert_int_equal(hw(beside)->timeslice_us, 2048);
	assert_int_equal(why(beside), 1u << GS_OVERRULE_UNSEEN);
	pass(60 * NS_PER_S);
	assert_int_equal(hw(t)->runnable, 0);
	assert_int_equal(hw(beside)->timeslice_us, 1);
}

static void test_each_failure_within_an_hour_doubles_the_time(void **state)
{
	struct gpusched_tsg *t = new_tsg(1, 0);

	want(t, GPUSCHED_RUNNABLE, 0);
	for (unsigned int i = 0; i < 3; i++) {
		uint64_t s = 60ull << i;

		fail_once(-EREMOTEIO);
		touch(t);
		pass(NS_PER_S);
		assert_int_equal(calls_of(1, GS_RM_SUSPEND), i + 1);
		pass((s - 5) * NS_PER_S);
		assert_int_equal(calls_of(1, GS_RM_SUSPEND), i + 1);
		fail_once(-EREMOTEIO);
		pass(5 * NS_PER_S);
	}
	assert_int_equal(counter(GS_ENG_SET_APART), 4);
}

static void test_other_failures_are_tried_again(void **state)
{
	static const int errs[] = { -EBADF, -ETIMEDOUT, -EPERM };

	for (unsigned int i = 0; i < 3; i++) {
		struct gpusched_tsg *t = new_tsg(i + 1, 0);

		fail_once(errs[i]);
		want(t, GPUSCHED_RUNNABLE, 0);
		touch(t);
		pass(NS_PER_S);
		assert_int_equal(hw(t)->runnable, 0);
		assert_int_equal(why(t), 0);
	}
	assert_int_equal(counter(GS_ENG_SET_APART), 0);
}

static void test_what_counts_as_failed(void **state)
{
	const struct gs_rm_result busy = { .err = -EREMOTEIO, .status = 0x3 },
				  freed = { .err = -EREMOTEIO, .status = 0x57 },
				  gone = { .err = -ENOENT, .status = 0x57 }, fine = { 0 };

	assert_true(gs_core_call_failed(GS_RM_SUSPEND, &busy));
	assert_true(gs_core_call_failed(GS_RM_RESUME, &busy));
	assert_true(gs_core_call_failed(GS_RM_SET_PREEMPT_MODE, &busy));
	assert_false(gs_core_call_failed(GS_RM_SET_TIMESLICE, &busy));
	assert_false(gs_core_call_failed(GS_RM_SUSPEND, &freed));
	assert_false(gs_core_call_failed(GS_RM_SUSPEND, &gone));
	assert_false(gs_core_call_failed(GS_RM_SUSPEND, &fine));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_no_policy_suspends_it),
		T(test_it_stays_in_cilp_and_keeps_its_short_slice),
		T(test_persons_and_budgets_may),
		T(test_it_is_admitted_unless_the_gate_stopped_it),
		T(test_a_failed_suspend_ends_the_wishes),
		T(test_no_short_slice_beside_one_left_alone),
		T(test_each_failure_within_an_hour_doubles_the_time),
		T(test_other_failures_are_tried_again),
		T(test_what_counts_as_failed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
