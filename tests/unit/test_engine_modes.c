// SPDX-License-Identifier: MIT
/* test_engine_modes.c - check that gpusched sets no preemption mode but CILP by itself */
#include "core_world.h"

/* A policy may wish CILP, or the owner's own mode: another mode can end a program that waits. */
static void test_no_mode_of_a_policy(void **state)
{
	struct gpusched_tsg *t = new_tsg(1, 0);

	want(t, GPUSCHED_PREEMPT_MODE, GPUSCHED_PREEMPT_CTA);
	want(t, GPUSCHED_TIMESLICE, 500);
	touch(t);
	settle();
	assert_int_equal(calls_of(1, GS_RM_SET_PREEMPT_MODE), 0);
	assert_int_equal(world.hw[0].timeslice_us, 500); /* its other wishes count */
	assert_true(gs_core_overruled(world.core, &t->key) & 1u << GS_OVERRULE_MODE);
	assert_int_equal(counter(GS_ENG_REFUSED_MODE), 1);
	want(t, GPUSCHED_PREEMPT_MODE, GPUSCHED_PREEMPT_WFI);
	touch(t);
	settle();
	assert_int_equal(calls_of(1, GS_RM_SET_PREEMPT_MODE), 0);
	assert_int_equal(counter(GS_ENG_REFUSED_MODE), 2);
	/* the owner asks for CTA itself: then it may have that, or CILP */
	t->task.asked.preempt_mode = world.hw[0].preempt_mode = GPUSCHED_PREEMPT_CTA;
	want(t, GPUSCHED_PREEMPT_MODE, GPUSCHED_PREEMPT_CTA);
	touch(t);
	settle();
	assert_int_equal(world.hw[0].preempt_mode, GPUSCHED_PREEMPT_CTA);
	assert_int_equal(gs_core_overruled(world.core, &t->key), 0);
	want(t, GPUSCHED_PREEMPT_MODE, GPUSCHED_PREEMPT_CILP);
	touch(t);
	settle();
	assert_int_equal(world.hw[0].preempt_mode, GPUSCHED_PREEMPT_CILP);
}

/* A person may set CTA, until the process has work on a second GPU. */
static void test_no_mode_across_gpus(void **state)
{
	struct gpusched_tsg *a = new_tsg(1, 0), *b, *other = new_tsg(2, 1);

	touch_all();
	assert_false(gs_core_mode_spans(world.core, a, GPUSCHED_PREEMPT_CTA));
	gs_field_put(&a->manual, GPUSCHED_PREEMPT_MODE, GPUSCHED_PREEMPT_CTA);
	touch(a);
	settle();
	assert_int_equal(world.hw[0].preempt_mode, GPUSCHED_PREEMPT_CTA);
	b = new_tsg(3, 1);
	b->task.pid = a->task.pid;
	b->nchannels = 0;
	touch(b);
	settle();
	assert_int_equal(world.hw[0].preempt_mode, GPUSCHED_PREEMPT_CTA);
	b->nchannels = 1; /* now it can have work */
	touch(b);
	pass(100 * NS_PER_MS);
	assert_int_equal(world.hw[0].preempt_mode, GPUSCHED_PREEMPT_CILP);
	assert_int_equal(gs_core_overruled(world.core, &a->key), 1u << GS_OVERRULE_SPAN);
	assert_int_equal(counter(GS_ENG_REFUSED_SPAN), 1);
	assert_true(gs_core_mode_spans(world.core, b, GPUSCHED_PREEMPT_WFI));
	assert_false(gs_core_mode_spans(world.core, b, GPUSCHED_PREEMPT_CILP));
	assert_false(gs_core_mode_spans(world.core, other, GPUSCHED_PREEMPT_CTA));
	gs_core_forget(world.core, &b->key);
	pass(100 * NS_PER_MS);
	assert_int_equal(world.hw[0].preempt_mode, GPUSCHED_PREEMPT_CTA);
	assert_int_equal(gs_core_overruled(world.core, &a->key), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_no_mode_of_a_policy),
		T(test_no_mode_across_gpus),
	};

	return cmocka_run_group_tests_name("engine_modes", tests, NULL, NULL);
}
