// SPDX-License-Identifier: MIT
/*
 * test_engine_job.c - check that the budget for calls never lets in a part of a job's pause alone,
 * and that checks come last
 */
#include "core_world.h"
#include "engine/core_priv.h"

static struct gpusched_tsg *part_of(uint32_t n, uint32_t gpu, uint64_t job)
{
	const struct gs_news news = { .job = job };
	struct gpusched_tsg *t = new_tsg(n, gpu);

	t->task.uid = 1000;
	want(t, GPUSCHED_TIMESLICE, 1000 + n); /* its first call is behind it */
	tell(t, &news);
	settle();
	assert_int_equal(calls_of(n, GS_RM_SET_TIMESLICE), 1);
	return t;
}

/* Leaves so much in the bucket that one call is let in now, and the next one waits. */
static void spend_all_but_one(void)
{
	const struct gs_budget *host = gs_core_host(world.core);

	world.now += 10 * NS_PER_S;
	while (!gs_budget_wait(world.core, host, world.now, GS_QUEUE_POLICY))
		gs_core_spent(world.core, 1, 100 * NS_PER_US, world.now);
	while (gs_budget_wait(world.core, host, world.now, GS_QUEUE_POLICY))
		world.now += 100 * NS_PER_US;
}

static void pause_of(struct gpusched_tsg *a, struct gpusched_tsg *b)
{
	want(a, GPUSCHED_RUNNABLE, 0);
	want(b, GPUSCHED_RUNNABLE, 0);
	touch(a);
	touch(b);
	pass(5 * NS_PER_MS);
}

static void test_a_job_pauses_as_a_whole(void **state)
{
	struct gpusched_tsg *a = part_of(1, 0, 7), *b = part_of(2, 1, 7);

	spend_all_but_one();
	pause_of(a, b);
	assert_int_equal(calls_of(1, GS_RM_SUSPEND), 1);
	assert_int_equal(calls_of(2, GS_RM_SUSPEND), 1);
}

/* Else a job's calls would not be bounded: another job's part waits. */
static void test_other_jobs_wait(void **state)
{
	struct gpusched_tsg *a = part_of(1, 0, 7), *b = part_of(2, 1, 8);

	spend_all_but_one();
	pause_of(a, b);
	assert_int_equal(calls_of(1, GS_RM_SUSPEND), 1);
	assert_int_equal(calls_of(2, GS_RM_SUSPEND), 0);
	pass(2 * NS_PER_S);
	assert_int_equal(calls_of(2, GS_RM_SUSPEND), 1);
}

/* Both wait in the queue: when the first one is let in, the other one is, too. */
static void test_a_job_waits_as_a_whole(void **state)
{
	struct gpusched_tsg *a = part_of(1, 0, 7), *b = part_of(2, 1, 7);

	world.core->call_ns_avg = 3 * NS_PER_MS; /* more than the bucket's step */
	spend_all_but_one();
	gs_core_spent(world.core, 1, 3 * NS_PER_MS, world.now);
	pause_of(a, b);
	assert_int_equal(calls_of(1, GS_RM_SUSPEND) + calls_of(2, GS_RM_SUSPEND), 0);
	for (unsigned int i = 0; i < 1000 && !calls_of(1, GS_RM_SUSPEND); i++)
		pass(NS_PER_MS);
	pass(5 * NS_PER_MS);
	assert_int_equal(calls_of(1, GS_RM_SUSPEND) + calls_of(2, GS_RM_SUSPEND), 2);
}

/* A job has as many TSGs as its user likes: only so many of its calls go along. */
static void test_a_large_job_is_bounded(void **state)
{
	unsigned int calls = 0;

	for (uint32_t i = 1; i <= 100; i++)
		part_of(i, i % 2, 7);
	spend_all_but_one();
	for (unsigned int i = 0; i < 100; i++) {
		want(&world.rec[i], GPUSCHED_RUNNABLE, 0);
		touch(&world.rec[i]);
	}
	pass(49 * NS_PER_MS);
	for (uint32_t i = 1; i <= 100; i++)
		calls += calls_of(i, GS_RM_SUSPEND);
	assert_in_range(calls, 2, 32);
}

/* What ends a short slice does not wait, but a suspension that comes with it does. */
static void test_a_longer_slice_lets_no_suspension_in(void **state)
{
	struct gpusched_tsg *a = part_of(1, 0, 7), *b = part_of(2, 1, 8);

	want(a, GPUSCHED_TIMESLICE, 1);
	want(b, GPUSCHED_TIMESLICE, 1);
	touch_all();
	settle();
	spend_all_but_one();
	gs_core_spent(world.core, 1, 20 * NS_PER_MS, world.now);
	want(a, GPUSCHED_TIMESLICE, 2048);
	want(a, GPUSCHED_RUNNABLE, 0);
	want(b, GPUSCHED_TIMESLICE, 2048);
	touch(a);
	touch(b);
	pass(5 * NS_PER_MS);
	assert_int_equal(calls_of(1, GS_RM_SUSPEND), 0);
	assert_int_equal(world.hw[1].timeslice_us, 2048);
}

static bool both_run_short(void)
{
	return short_slices() == 2;
}

/*
 * Two TSGs on one runlist take turns, with slices of 1 us. While a suspension waits for the budget,
 * both run, and would switch all the time.
 */
static void test_a_wait_leaves_no_two_short_slices(void **state)
{
	struct gpusched_tsg *a = part_of(1, 0, 7), *b = part_of(2, 0, 8);
	uint64_t both = 0;

	want(a, GPUSCHED_TIMESLICE, 1);
	want(a, GPUSCHED_RUNNABLE, 1);
	want(b, GPUSCHED_TIMESLICE, 1);
	want(b, GPUSCHED_RUNNABLE, 0);
	touch(b);
	touch(a);
	settle();
	assert_int_equal(world.hw[0].timeslice_us, 1);
	assert_int_equal(world.hw[1].runnable, 0);
	for (unsigned int turn = 1; turn <= 20; turn++) {
		struct gpusched_tsg *on = turn % 2 ? b : a, *off = turn % 2 ? a : b;

		if (turn % 5 == 1) /* a debt of some turns */
			gs_core_spent(world.core, 1, 20 * NS_PER_MS, world.now);
		want(off, GPUSCHED_RUNNABLE, 0);
		want(on, GPUSCHED_RUNNABLE, 1);
		touch(off);
		touch(on);
		for (unsigned int ms = 0; ms < 100; ms++) {
			pass(NS_PER_MS);
			both += both_run_short();
		}
	}
	assert_in_range(both, 0, 40); /* some ms at each turn, while the calls are made */
	assert_true(counter(GS_ENG_OVER_BUDGET) > 0);
}

static unsigned int checks(void)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < world.nlog; i++)
		n += world.log[i].op == GS_RM_GET_TIMESLICE;
	return n;
}

/* A check takes the locks of all GPUs, and a user can cause any number of them. */
static void test_checks_have_a_budget(void **state)
{
	const struct gs_news check = { .check = true };
	struct gpusched_tsg *other;

	for (uint32_t i = 1; i <= 400; i++) {
		struct gpusched_tsg *t = new_tsg(i, i % 2);

		t->task.uid = 1000;
		tell(t, &check);
	}
	other = new_tsg(401, 0);
	other->task.uid = 1001;
	want(other, GPUSCHED_TIMESLICE, 500);
	touch(other);
	pass(10 * NS_PER_MS);
	assert_int_equal(world.hw[400].timeslice_us, 500);
	pass(NS_PER_S);
	assert_in_range(checks(), 50, 200);
	assert_int_equal(gs_core_overruled(world.core, &world.rec[399].key), 0);
	pass(10 * NS_PER_S);
	assert_int_equal(checks(), 400);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_a_job_pauses_as_a_whole),
		T(test_other_jobs_wait),
		T(test_a_job_waits_as_a_whole),
		T(test_a_large_job_is_bounded),
		T(test_a_longer_slice_lets_no_suspension_in),
		T(test_a_wait_leaves_no_two_short_slices),
		T(test_checks_have_a_budget),
	};

	return cmocka_run_group_tests_name("engine_job", tests, NULL, NULL);
}
