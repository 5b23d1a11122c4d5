// SPDX-License-Identifier: MIT
/* test_engine_laws.c - what the engine holds to whatever a policy wants */
#include "engine_setup.h"
#include "gpusched/policy_types.h"

static unsigned int short_slices(void)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < fake.n; i++)
		n += fake.hw[i].runnable && fake.hw[i].timeslice_us < 200;
	return n;
}

static void test_switch_cost_rule(void **state)
{
	struct gpusched_tsg *a = fake_tsg(1, 0), *b = fake_tsg(2, 0), *c = fake_tsg(3, 1);

	fake_want(a, GPUSCHED_TIMESLICE, 20);
	fake_want(c, GPUSCHED_TIMESLICE, 20);
	gs_engine_touch_all(engine);
	settle();
	assert_int_equal(fake.hw[0].timeslice_us, 20);
	assert_int_equal(fake.hw[2].timeslice_us, 20); /* another GPU */
	fake_want(b, GPUSCHED_TIMESLICE, 20);
	gs_engine_touch(engine, &b->key);
	run_until(fake.hw[0].timeslice_us == 800 && fake.hw[1].timeslice_us == 800);
	settle();
	assert_int_equal(fake.hw[0].timeslice_us, 800);
	assert_int_equal(fake.hw[1].timeslice_us, 800);
	assert_int_equal(counter(GS_ENG_REFUSED_SLICE), 2);
	/* one of them suspended: the other may have it */
	fake_want(b, GPUSCHED_RUNNABLE, 0);
	gs_engine_touch(engine, &b->key);
	run_until(fake.hw[0].timeslice_us == 20);
	settle();
	assert_int_equal(fake.hw[0].timeslice_us, 20);
	assert_int_equal(short_slices(), 2);
	/* the last one goes */
	b->task.want.valid = 0;
	fake_want(b, GPUSCHED_TIMESLICE, 20);
	gs_engine_touch(engine, &b->key);
	run_until(short_slices() == 1 && fake.hw[1].runnable);
	settle();
	assert_int_equal(short_slices(), 1);
	gs_engine_forget(engine, &a->key);
	run_until(fake.hw[1].timeslice_us == 20);
	settle();
	assert_int_equal(fake.hw[1].timeslice_us, 20);
}

static void test_second_short_slice_of_a_person_is_refused(void **state)
{
	struct gpusched_tsg *a = fake_tsg(1, 0), *b = fake_tsg(2, 0);
	struct gpusched_settings set = { .valid = GPUSCHED_TIMESLICE, .timeslice_us = 20 };
	struct gs_error err = { 0 };

	assert_int_equal(gs_engine_set_manual(engine, &a->key, &set, 0, &err), 0);
	settle();
	assert_int_equal(gs_engine_set_manual(engine, &b->key, &set, 0, &err), -EBUSY);
	assert_non_null(strstr(err.text, "switch cost"));
	/* and a policy's wish yields to a person's */
	fake_want(b, GPUSCHED_TIMESLICE, 30);
	gs_engine_touch(engine, &b->key);
	settle();
	assert_int_equal(fake.hw[0].timeslice_us, 20);
	assert_int_equal(fake.hw[1].timeslice_us, 800);
}

static void test_unknown_engines_are_not_one_runlist(void **state)
{
	struct gpusched_settings set = { .valid = GPUSCHED_TIMESLICE, .timeslice_us = 20 };

	for (uint32_t i = 1; i <= 3; i++) {
		struct gpusched_tsg *t = fake_tsg(i, 0);

		t->task.kind = GPUSCHED_KIND_COPY;
		t->task.engine = 0;
		assert_int_equal(gs_engine_set_manual(engine, &t->key, &set, 0, NULL), 0);
	}
	settle();
	assert_int_equal(short_slices(), 3);
}

static void test_starving_tsg_gets_a_longer_slice(void **state)
{
	struct gpusched_tsg *t = fake_tsg(1, 0);

	t->task.known = GPUSCHED_KNOWN_LAUNCHES;
	t->task.last_launch_ns = gs_now_ns();
	t->task.launches = 5;
	fake_want(t, GPUSCHED_TIMESLICE, 20);
	gs_engine_touch(engine, &t->key);
	settle();
	assert_int_equal(fake.log[0].arg, 20);
	run_until(fake.hw[0].timeslice_us == 800);
	assert_int_equal(counter(GS_ENG_STARVED), 1);
	for (int i = 0; i < 30; i++) {
		t->task.launches++;
		run_for(10);
	}
	run_until(fake.hw[0].timeslice_us == 20);
}

static void test_policy_cannot_suspend_for_ever(void **state)
{
	struct gpusched_tsg *t = fake_tsg(1, 0);

	fake.cls.suspend_limit_ms = 1500;
	fake_want(t, GPUSCHED_RUNNABLE, 0);
	gs_engine_touch(engine, &t->key);
	settle();
	assert_int_equal(fake.hw[0].runnable, 0);
	assert_int_equal(t->suspend_by, GPUSCHED_BY_POLICY);
	run_until(fake.hw[0].runnable);
	assert_int_equal(counter(GS_ENG_RELEASED_SUSPEND), 1);
	gs_engine_touch_all(engine); /* the wish stands, but had its time */
	settle();
	assert_int_equal(fake.hw[0].runnable, 1);
	fake_want(t, GPUSCHED_RUNNABLE, 1);
	gs_engine_touch(engine, &t->key);
	fake_want(t, GPUSCHED_RUNNABLE, 0);
	gs_engine_touch(engine, &t->key);
	settle();
	assert_int_equal(fake.hw[0].runnable, 0);
}

static void test_new_channel_of_a_suspended_tsg(void **state)
{
	struct gpusched_tsg *t = fake_tsg(1, 0);

	fake_want(t, GPUSCHED_RUNNABLE, 0);
	gs_engine_touch(engine, &t->key);
	settle();
	t->nchannels = 3;
	gs_engine_touch(engine, &t->key);
	settle();
	assert_int_equal(fake_count(1, GS_RM_SUSPEND), 2);
	gs_engine_touch(engine, &t->key);
	settle();
	assert_int_equal(fake_count(1, GS_RM_SUSPEND), 2);
}

static void test_refused_wishes(void **state)
{
	struct gpusched_tsg *t = fake_tsg(1, 0), *mps = fake_tsg(2, 0), *old = fake_tsg(3, 0);

	fake_want(t, GPUSCHED_TIMESLICE, 200000000);
	mps->flags |= GPUSCHED_TSG_MPS;
	fake_want(mps, GPUSCHED_TIMESLICE, 500);
	old->task.assumed = GPUSCHED_INTERLEAVE | GPUSCHED_PREEMPT_MODE;
	fake_want(old, GPUSCHED_INTERLEAVE, 2);
	fake_want(old, GPUSCHED_TIMESLICE, 500);
	for (int i = 0; i < 3; i++)
		gs_engine_touch_all(engine);
	settle();
	assert_int_equal(fake.nlog, 1);
	assert_int_equal(fake.hw[2].timeslice_us, 500);
	assert_int_equal(counter(GS_ENG_REFUSED_RANGE), 1);
	assert_int_equal(counter(GS_ENG_REFUSED_MPS), 1);
	assert_int_equal(counter(GS_ENG_REFUSED_ASSUMED), 1);
}

/* A policy that says so may change what is only assumed; the next one without the flag may not. */
static void test_assumed_needs_the_flag(void **state)
{
	struct gpusched_tsg *old = fake_tsg(1, 0);

	old->task.assumed = GPUSCHED_INTERLEAVE | GPUSCHED_PREEMPT_MODE;
	fake_want(old, GPUSCHED_INTERLEAVE, 2);
	fake_want(old, GPUSCHED_PREEMPT_MODE, 0);
	gs_engine_policy_flags(engine, GPUSCHED_F_WORK);
	gs_engine_touch_all(engine);
	settle();
	assert_int_equal(fake.nlog, 0);
	assert_int_equal(counter(GS_ENG_REFUSED_ASSUMED), 2);
	gs_engine_policy_flags(engine, GPUSCHED_F_ASSUMED);
	gs_engine_touch_all(engine);
	settle();
	assert_int_equal(fake.hw[0].interleave, 2);
	assert_int_equal(fake.hw[0].preempt_mode, 0);
	gs_engine_policy_flags(engine, 0);
	gs_engine_touch_all(engine);
	settle();
	assert_int_equal(fake.hw[0].interleave, 1);
	assert_int_equal(fake.hw[0].preempt_mode, 2);
	assert_int_equal(counter(GS_ENG_REFUSED_ASSUMED), 4);
}

static void test_call_budget(void **state)
{
	struct gpusched_tsg *t = fake_tsg(1, 0), *fresh = fake_tsg(2, 0);
	struct gpusched_settings set = { .valid = GPUSCHED_TIMESLICE, .timeslice_us = 700 };
	uint64_t begin = gs_now_ns(), spent, waits;

	fake.call_ns = 4 * NS_PER_MS;
	for (unsigned int i = 0; gs_now_ns() - begin < 600 * NS_PER_MS; i++) {
		fake_want(t, GPUSCHED_TIMESLICE, 1000 + i);
		gs_engine_touch(engine, &t->key);
		run_for(2);
	}
	spent = counter(GS_ENG_CALL_NS);
	assert_true(counter(GS_ENG_OVER_BUDGET) > 0);
	/* the bucket without its reserve, 5 % of 600 ms, and two calls' slack */
	assert_true(spent <= 25 * NS_PER_MS + (gs_now_ns() - begin) / 20 + 8 * NS_PER_MS);
	/* a person's call takes from the reserve: a policy's next one would wait */
	set.timeslice_us = 600;
	gs_engine_set_manual(engine, &t->key, &set, 0, NULL);
	run_until(fake.hw[0].timeslice_us == 600);
	/* who has had no call yet does not wait for that */
	waits = counter(GS_ENG_OVER_BUDGET);
	fake_want(fresh, GPUSCHED_TIMESLICE, 900);
	gs_engine_touch(engine, &fresh->key);
	run_until(fake.hw[1].timeslice_us == 900);
	assert_int_equal(counter(GS_ENG_OVER_BUDGET), waits);
	/* and a person neither, also where the policy has something to change beside it */
	fake_want(t, GPUSCHED_INTERLEAVE, 2);
	set.timeslice_us = 700;
	gs_engine_set_manual(engine, &t->key, &set, 0, NULL);
	run_until(fake.hw[0].timeslice_us == 700);
	assert_int_equal(counter(GS_ENG_OVER_BUDGET), waits);
}

/* Its owner is stopped in the call that would schedule it: there is nothing to suspend. */
static void test_held_at_the_gate(void **state)
{
	struct gpusched_tsg *t = fake_tsg(1, 0);

	t->flags = GPUSCHED_TSG_HELD | GPUSCHED_TSG_GATED;
	fake.stopped[0] = true;
	fake_want(t, GPUSCHED_RUNNABLE, 0);
	gs_engine_touch(engine, &t->key);
	settle();
	assert_int_equal(fake.nlog, 0);
	assert_true(fake.stopped[0]);
	/* the policy admits it */
	t->flags &= ~GPUSCHED_TSG_HELD;
	t->task.want.valid = 0;
	gs_engine_touch_all(engine);
	settle();
	assert_false(fake.stopped[0]);
	assert_int_equal(counter(GS_ENG_CONTINUED), 1);
	assert_int_equal(fake.nlog, 0);
	/* the limit does */
	t->flags |= GPUSCHED_TSG_HELD;
	fake.stopped[0] = true;
	fake_want(t, GPUSCHED_RUNNABLE, 0);
	gs_engine_free(engine);
	hold_limit_ms = 1500;
	make_engine(false);
	gs_engine_touch(engine, &t->key);
	run_for(50);
	assert_true(fake.stopped[0]);
	run_until(!fake.stopped[0]);
	assert_int_equal(t->flags & GPUSCHED_TSG_HELD, 0);
	assert_int_equal(counter(GS_ENG_RELEASED_HOLD), 1);
	assert_int_equal(fake.nlog, 0);
	/* scheduled after all, by another of its threads */
	t->flags |= GPUSCHED_TSG_HELD | GPUSCHED_TSG_SCHEDULED;
	fake_want(t, GPUSCHED_RUNNABLE, 0);
	gs_engine_touch(engine, &t->key);
	settle();
	assert_int_equal(fake.hw[0].runnable, 0);
}

static void test_held_until_admitted(void **state)
{
	struct gpusched_tsg *t = fake_tsg(1, 0);

	t->task.created_ns =
		gs_now_ns() - 601 * NS_PER_S; /* its age does not count, its wait does */
	t->flags |= GPUSCHED_TSG_HELD;
	fake_want(t, GPUSCHED_RUNNABLE, 0);
	gs_engine_touch(engine, &t->key);
	settle();
	assert_int_equal(fake.hw[0].runnable, 0);
	assert_int_equal(t->suspend_by, GPUSCHED_BY_ADMISSION);
	/* another engine goes on counting where this one was */
	t->suspended_ns = gs_now_ns() - 601 * NS_PER_S;
	gs_engine_free(engine);
	make_engine(false);
	gs_engine_touch(engine, &t->key);
	settle();
	assert_int_equal(fake.hw[0].runnable, 1);
	assert_int_equal(t->flags & GPUSCHED_TSG_HELD, 0);
	assert_int_equal(t->task.want.valid & GPUSCHED_RUNNABLE, 0);
	assert_int_equal(counter(GS_ENG_RELEASED_HOLD), 1);
	assert_int_equal(counter(GS_ENG_RELEASED_SUSPEND), 0);
	/* no policy, no hold */
	t->flags |= GPUSCHED_TSG_HELD;
	fake.cfg.policy_active = 0;
	gs_engine_touch(engine, &t->key);
	settle();
	assert_int_equal(fake.hw[0].runnable, 1);
}

/* Of many one is left, and it may have what it wishes. */
static void test_many_short_wishes(void **state)
{
	enum { MANY = 40 };

	for (uint32_t i = 1; i <= MANY; i++)
		fake_want(fake_tsg(i, 0), GPUSCHED_TIMESLICE, 20);
	gs_engine_touch_all(engine);
	run_until(fake.nlog && !short_slices());
	settle();
	assert_int_equal(short_slices(), 0);
	for (uint32_t i = 2; i <= MANY; i++)
		gs_engine_forget(engine, &fake.rec[i - 1].key);
	run_until(short_slices());
	settle();
	assert_int_equal(short_slices(), 1);
	assert_int_equal(fake.hw[0].timeslice_us, 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_switch_cost_rule),
		T(test_second_short_slice_of_a_person_is_refused),
		T(test_unknown_engines_are_not_one_runlist),
		T(test_starving_tsg_gets_a_longer_slice),
		T(test_policy_cannot_suspend_for_ever),
		T(test_new_channel_of_a_suspended_tsg),
		T(test_refused_wishes),
		T(test_assumed_needs_the_flag),
		T(test_call_budget),
		T(test_held_until_admitted),
		T(test_held_at_the_gate),
		T(test_many_short_wishes),
	};

	return cmocka_run_group_tests_name("engine_laws", tests, NULL, NULL);
}
