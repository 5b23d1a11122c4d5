// SPDX-License-Identifier: MIT
/* test_engine_order.c - check the order of calls on a host: RM takes the locks of all its GPUs */
#include "engine_setup.h"

/* Returns the place of the call in the log of calls that have ended; MAX_LOG: it is not there. */
static unsigned int place_of(uint32_t tsg, enum gs_rm_op op)
{
	unsigned int i;

	pthread_mutex_lock(&fake.lock);
	for (i = 0; i < fake.nlog && (fake.log[i].tsg != tsg || fake.log[i].op != op); i++)
		;
	i = i == fake.nlog ? MAX_LOG : i;
	pthread_mutex_unlock(&fake.lock);
	return i;
}

static void wish(struct gpusched_tsg *t, uint32_t bit, uint32_t value)
{
	fake_want(t, bit, value);
	gs_engine_touch(engine, &t->key);
}

/* While a suspension waits for what runs, those of other GPUs do not begin. */
static void test_one_suspension_on_the_host(void **state)
{
	struct gpusched_tsg *a = fake_tsg(1, 0), *b = fake_tsg(2, 1), *c = fake_tsg(3, 7);

	fake_slow(1, 300 * NS_PER_MS);
	wish(a, GPUSCHED_RUNNABLE, 0);
	wait_begun(1);
	wish(b, GPUSCHED_RUNNABLE, 0);
	wish(c, GPUSCHED_RUNNABLE, 0);
	run_for(100);
	assert_int_equal(fake_begun(), 1);
	settle();
	assert_int_equal(place_of(1, GS_RM_SUSPEND), 0);
	assert_int_equal(fake.hw[1].runnable, 0);
	assert_int_equal(fake.hw[2].runnable, 0);
}

/* What the stuck suspension waits for may itself wait for a resume, on its GPU or on another. */
static void test_stuck_suspension_holds_up_no_resume(void **state)
{
	struct gpusched_tsg *a = fake_tsg(1, 0), *b = fake_tsg(2, 0), *c = fake_tsg(3, 1);
	struct gpusched_tsg *d = fake_tsg(4, 1);

	wish(b, GPUSCHED_RUNNABLE, 0);
	wish(c, GPUSCHED_RUNNABLE, 0);
	settle();
	gs_engine_ops.stuck_ns = 50 * NS_PER_MS;
	fake_slow(1, 1500 * NS_PER_MS);
	wish(a, GPUSCHED_RUNNABLE, 0);
	wait_begun(3);
	wish(d, GPUSCHED_RUNNABLE, 0);
	wish(b, GPUSCHED_RUNNABLE, 1);
	wish(c, GPUSCHED_RUNNABLE, 1);
	run_until(fake.hw[1].runnable && fake.hw[2].runnable && counter(GS_ENG_STUCK) == 1);
	assert_int_equal(fake.hw[0].runnable, 1);
	assert_int_equal(fake.hw[3].runnable, 1);
	settle(); /* the late call came back */
	assert_int_equal(fake.hw[0].runnable, 0);
	assert_int_equal(fake.hw[3].runnable, 0);
}

/* In a change of turns the next holder runs before the last one is suspended, on any GPU. */
static void test_resumes_come_first(void **state)
{
	struct gpusched_tsg *a = fake_tsg(1, 0), *b = fake_tsg(2, 0), *c = fake_tsg(3, 1);

	wish(b, GPUSCHED_RUNNABLE, 0);
	settle();
	fake_slow(2, 100 * NS_PER_MS);
	fake_want(a, GPUSCHED_RUNNABLE, 0);
	fake_want(c, GPUSCHED_RUNNABLE, 0);
	fake_want(b, GPUSCHED_RUNNABLE, 1);
	gs_engine_touch_all(engine);
	settle();
	assert_true(place_of(2, GS_RM_RESUME) < place_of(1, GS_RM_SUSPEND));
	assert_true(place_of(2, GS_RM_RESUME) < place_of(3, GS_RM_SUSPEND));
	assert_true(place_of(3, GS_RM_SUSPEND) < MAX_LOG);
}

/* A resume that does not return, or whose owner keeps it waiting, puts off no suspension. */
static void test_stuck_resume_holds_up_no_suspension(void **state)
{
	struct gpusched_tsg *a = fake_tsg(1, 0), *b = fake_tsg(2, 1), *c = fake_tsg(3, 0);

	c->task.uid = 1000;
	wish(b, GPUSCHED_RUNNABLE, 0);
	wish(c, GPUSCHED_RUNNABLE, 0);
	settle();
	gs_engine_ops.stuck_ns = 50 * NS_PER_MS;
	fake_slow(2, 1500 * NS_PER_MS);
	wish(b, GPUSCHED_RUNNABLE, 1);
	wait_begun(3);
	fake_lock(3, true);
	wish(c, GPUSCHED_RUNNABLE, 1);
	wish(a, GPUSCHED_RUNNABLE, 0);
	run_until(!fake.hw[0].runnable);
	assert_int_equal(fake.hw[1].runnable, 0);
	assert_int_equal(fake.hw[2].runnable, 0);
	fake_lock(3, false);
	settle();
	assert_int_equal(fake.hw[2].runnable, 1);
}

/* Only a person may set CTA mode. */
static void set_cta(struct gpusched_tsg *t, bool on)
{
	if (on)
		gs_field_put(&t->manual, GPUSCHED_PREEMPT_MODE, GPUSCHED_PREEMPT_CTA);
	else
		gs_field_unset(&t->manual, GPUSCHED_PREEMPT_MODE);
	gs_engine_touch(engine, &t->key);
}

/* In CTA mode a suspension waits for the end of thread blocks, so CILP is put back first. */
static void test_mode_comes_before_a_suspension(void **state)
{
	struct gpusched_tsg *t = fake_tsg(1, 0);

	set_cta(t, true);
	settle();
	fake.nlog = 0;
	set_cta(t, false);
	fake_want(t, GPUSCHED_TIMESLICE, 300);
	wish(t, GPUSCHED_RUNNABLE, 0);
	settle();
	assert_int_equal(place_of(1, GS_RM_SET_PREEMPT_MODE), 0);
	assert_int_equal(place_of(1, GS_RM_SUSPEND), 1);
	assert_int_equal(place_of(1, GS_RM_SET_TIMESLICE), 2);
	/* and CTA only while nothing runs */
	fake.nlog = 0;
	set_cta(t, true);
	wish(t, GPUSCHED_RUNNABLE, 1);
	settle();
	assert_int_equal(place_of(1, GS_RM_SET_PREEMPT_MODE), 0);
	assert_int_equal(place_of(1, GS_RM_RESUME), 1);
}

static void test_no_suspension_without_its_mode(void **state)
{
	struct gpusched_tsg *t = fake_tsg(1, 0);

	set_cta(t, true);
	settle();
	fake.nlog = 0;
	fake.fail_op = GS_RM_SET_PREEMPT_MODE;
	fake.fail_err = -EAGAIN; /* not made: the policy keeps its wishes */
	fake.fail_times = 2;
	set_cta(t, false);
	wish(t, GPUSCHED_RUNNABLE, 0);
	settle();
	assert_int_equal(fake.hw[0].preempt_mode, GPUSCHED_PREEMPT_CILP);
	assert_int_equal(fake.hw[0].runnable, 0);
	/* after all tries of the mode */
	assert_true(place_of(1, GS_RM_SUSPEND) >= fake_count(1, GS_RM_SET_PREEMPT_MODE));
	assert_int_equal(fake.log[fake.nlog - 1].op, GS_RM_SUSPEND);
}

static void expect_suspensions(unsigned int n, uint32_t last_arg)
{
	unsigned int count = 0;

	for (unsigned int i = 0; i < fake.nlog; i++)
		if (fake.log[i].op == GS_RM_SUSPEND) {
			count++;
			if (count == n)
				assert_int_equal(fake.log[i].arg, last_arg);
		}
	assert_int_equal(count, n);
}

/* No suspension waits for the TSG to leave, where the driver can do that. */
static void test_nobody_waits_for_the_tsg(void **state)
{
	const struct gpusched_settings suspend = { .valid = GPUSCHED_RUNNABLE, .runnable = 0 };
	struct gpusched_tsg *t = fake_tsg(1, 0);

	wish(t, GPUSCHED_RUNNABLE, 0);
	settle();
	expect_suspensions(1, 1);
	assert_int_equal(gs_engine_set_manual(engine, &t->key, &suspend, 0, 0, NULL), 0);
	settle();
	assert_int_equal(t->suspend_by, GPUSCHED_BY_PERSON);
	run_for(50);
	expect_suspensions(1, 1);
}

/* How a TSG leaves without a wait is not known in CTA mode: there only a person suspends. */
static void test_cta_waits(void **state)
{
	const struct gpusched_settings suspend = { .valid = GPUSCHED_RUNNABLE, .runnable = 0 };
	struct gpusched_tsg *t = fake_tsg(1, 0);

	set_cta(t, true);
	wish(t, GPUSCHED_RUNNABLE, 0);
	settle();
	expect_suspensions(0, 0);
	assert_int_equal(gs_engine_set_manual(engine, &t->key, &suspend, 0, 0, NULL), 0);
	settle();
	expect_suspensions(1, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_one_suspension_on_the_host),
		T(test_stuck_suspension_holds_up_no_resume),
		T(test_resumes_come_first),
		T(test_stuck_resume_holds_up_no_suspension),
		T(test_mode_comes_before_a_suspension),
		T(test_no_suspension_without_its_mode),
		T(test_nobody_waits_for_the_tsg),
		T(test_cta_waits),
	};

	return cmocka_run_group_tests_name("engine_order", tests, NULL, NULL);
}
