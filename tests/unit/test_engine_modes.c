// SPDX-License-Identifier: MIT
/* test_engine_modes.c - check that gpusched sets no preemption mode but CILP by itself */
#include "core_world.h"
#include "gpusched/policy_types.h"

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

/* Policies and holds suspend in CILP only: in another mode the call would wait for blocks. */
static void test_no_suspension_in_cta(void **state)
{
	struct gpusched_tsg *be = new_tsg(1, 0), *lc = new_tsg(2, 0);

	be->task.class_id = GPUSCHED_CLASS_BE;
	lc->task.class_id = GPUSCHED_CLASS_LC;
	be->task.asked.preempt_mode = world.hw[0].preempt_mode = GPUSCHED_PREEMPT_CTA;
	want(be, GPUSCHED_RUNNABLE, 0);
	touch_all();
	settle();
	assert_int_equal(calls_of(1, GS_RM_SUSPEND), 0);
	assert_true(gs_core_overruled(world.core, &be->key) & 1u << GS_OVERRULE_MODE);
	assert_int_equal(counter(GS_ENG_REFUSED_MODE), 1);
	be->task.want.valid = 0;
	lc->task.want.hold = 100 * 1000 / GPUSCHED_HOLD_UNIT_US | GPUSCHED_HOLD_FLIP;
	lc->task.want.valid = GPUSCHED_WANT_HOLD;
	touch_all();
	pass(50 * NS_PER_MS);
	assert_int_equal(calls_of(1, GS_RM_SUSPEND), 0);
	assert_int_equal(be->task.is.hold, GPUSCHED_HOLD_UNABLE);
	assert_int_equal(counter(GS_ENG_HOLD_UNABLE), 1);
	lc->task.want.valid = 0;
	touch_all();
	settle();
	/* nor is it held before it may run */
	be->flags |= GPUSCHED_TSG_HELD;
	touch(be);
	settle();
	assert_int_equal(calls_of(1, GS_RM_SUSPEND), 0);
	assert_false(be->flags & GPUSCHED_TSG_HELD);
	/* a person's word stands, and CILP comes before a policy's */
	gs_field_put(&be->manual, GPUSCHED_RUNNABLE, 0);
	touch(be);
	settle();
	assert_false(world.hw[0].runnable);
	assert_int_equal(gs_core_overruled(world.core, &be->key), 0);
	gs_field_unset(&be->manual, GPUSCHED_RUNNABLE);
	touch(be);
	settle();
	want(be, GPUSCHED_PREEMPT_MODE, GPUSCHED_PREEMPT_CILP);
	want(be, GPUSCHED_RUNNABLE, 0);
	touch(be);
	settle();
	assert_int_equal(world.hw[0].preempt_mode, GPUSCHED_PREEMPT_CILP);
	assert_false(world.hw[0].runnable);
	assert_int_equal(calls_of(1, GS_RM_SUSPEND), 2);
}

/* It would get the time that others lose by shorter slices. */
static void test_no_short_slice_beside_one_that_stays(void **state)
{
	struct gpusched_tsg *cta = new_tsg(1, 0), *be = new_tsg(2, 0), *away = new_tsg(3, 1);

	cta->task.asked.preempt_mode = world.hw[0].preempt_mode = GPUSCHED_PREEMPT_CTA;
	want(be, GPUSCHED_TIMESLICE, 1);
	want(away, GPUSCHED_TIMESLICE, 1);
	touch_all();
	settle();
	assert_int_equal(world.hw[1].timeslice_us, 1);
	want(cta, GPUSCHED_RUNNABLE, 0);
	touch(cta);
	settle();
	assert_int_equal(world.hw[1].timeslice_us, 2048);
	assert_int_equal(world.hw[2].timeslice_us, 1);
	assert_int_equal(gs_core_overruled(world.core, &be->key), 1u << GS_OVERRULE_UNSEEN);
	cta->task.want.valid = 0;
	touch(cta);
	settle();
	assert_int_equal(world.hw[1].timeslice_us, 1);
	want(cta, GPUSCHED_RUNNABLE, 0);
	touch(cta);
	settle();
	gs_core_forget(world.core, &cta->key);
	cta->flags |= GPUSCHED_TSG_GONE;
	touch(be);
	settle();
	assert_int_equal(world.hw[1].timeslice_us, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_no_mode_of_a_policy),
		T(test_no_mode_across_gpus),
		T(test_no_suspension_in_cta),
		T(test_no_short_slice_beside_one_that_stays),
	};

	return cmocka_run_group_tests_name("engine_modes", tests, NULL, NULL);
}
