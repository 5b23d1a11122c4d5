// SPDX-License-Identifier: MIT
/* test_engine.c - check the engine and its laws, with a fake table and a fake RM */
#include "basic/cleanup.h"
#include "core_replay.h"
#include "engine_setup.h"
#include "engine/fields.h"
#include "engine/switch_cost.h"

/* ---- the plain path -------------------------------------------------------------------------- */

static void test_wish_becomes_is(void **state)
{
	struct gpusched_tsg *t = fake_tsg(1, 0);

	t->task.asked.preempt_mode = fake.hw[0].preempt_mode = GPUSCHED_PREEMPT_CTA;
	gs_engine_touch(engine, &t->key);
	settle();
	assert_int_equal(fake.nlog, 0); /* nothing wanted, nothing called */
	fake_want(t, GPUSCHED_TIMESLICE, 20);
	fake_want(t, GPUSCHED_PREEMPT_MODE, GPUSCHED_PREEMPT_CILP);
	gs_engine_touch(engine, &t->key);
	settle();
	assert_int_equal(fake.nlog, 2);
	assert_int_equal(fake.hw[0].timeslice_us, 20);
	assert_int_equal(fake.hw[0].preempt_mode, GPUSCHED_PREEMPT_CILP);
	assert_int_equal(t->task.is.timeslice_us, 20);
	assert_int_equal(t->task.is.valid, GPUSCHED_TIMESLICE | GPUSCHED_PREEMPT_MODE);
	assert_int_equal(t->changed, GPUSCHED_TIMESLICE | GPUSCHED_PREEMPT_MODE);
	assert_int_equal(counter(GS_ENG_CALLS), 2);
	assert_int_equal(told, 2);

	gs_engine_touch_all(engine);
	settle();
	assert_int_equal(fake.nlog, 2); /* the settings are as wished: no further call */

	t->task.want.valid = 0;
	gs_engine_touch(engine, &t->key);
	settle();
	assert_int_equal(fake.hw[0].timeslice_us, 2048);
	assert_int_equal(fake.hw[0].preempt_mode, GPUSCHED_PREEMPT_CTA);
	assert_int_equal(t->changed, 0);
	assert_int_equal(t->task.is.valid, 0);
}

static void test_changed_is_in_the_table_before_the_call(void **state)
{
	struct gpusched_tsg *t = fake_tsg(1, 0);

	fake_want(t, GPUSCHED_TIMESLICE, 20);
	fake_want(t, GPUSCHED_RUNNABLE, 0);
	gs_engine_touch(engine, &t->key);
	settle();
	assert_int_equal(fake.nlog, 2);
	for (unsigned int i = 0; i < 2; i++)
		assert_int_equal(fake.log[i].changed, GPUSCHED_TIMESLICE | GPUSCHED_RUNNABLE);
}

static void test_policy_counts_only_while_active(void **state)
{
	struct gpusched_tsg *t = fake_tsg(1, 0);

	fake.cfg.policy_active = 0;
	fake_want(t, GPUSCHED_TIMESLICE, 20);
	gs_engine_touch(engine, &t->key);
	settle();
	assert_int_equal(fake.nlog, 0);
	fake.cfg.policy_active = 1;
	gs_engine_touch_all(engine);
	settle();
	assert_int_equal(fake.hw[0].timeslice_us, 20);
	fake.cfg.policy_active = 0;
	gs_engine_touch_all(engine);
	settle();
	assert_int_equal(fake.hw[0].timeslice_us, 2048);
}

/* Another process has taken over: planned calls are not made, all TSGs are checked anew. */
static void test_overtaken(void **state)
{
	struct gpusched_tsg *t = fake_tsg(1, 0), *next = fake_tsg(2, 0);

	fake_want(t, GPUSCHED_TIMESLICE, 1000);
	fake_want(t, GPUSCHED_INTERLEAVE, 2);
	fake_want(next, GPUSCHED_TIMESLICE, 3000);
	fake.call_ns = NS_PER_S;
	gs_engine_touch(engine, &t->key);
	while (!*(volatile unsigned int *)&fake.begun)
		gs_sleep_ns(NS_PER_MS);
	gs_engine_touch(engine, &next->key); /* queued behind the first call */
	/* during the first of three calls, another process takes over, and restores this TSG */
	fake.cfg.epoch++;
	fake.call_ns = 0;
	t->changed = 0;
	run_until(gs_engine_idle(engine));
	assert_int_equal(fake.nlog, 1);
	assert_int_equal(next->changed, 0);
	assert_true(t->changed &
		    /* the call was made, so a restore after the daemon's death must know of it */
		    GPUSCHED_TIMESLICE);
	gs_engine_touch_all(engine);
	run_for(50);
	assert_int_equal(fake.nlog, 1);
	fake.hw[0].timeslice_us = 2048; /* it is unknown which of the two calls came last */
	assert_int_equal(gs_engine_begin_anew(engine), 0);
	settle();
	assert_int_equal(fake.hw[0].timeslice_us, 1000);
	assert_int_equal(fake.hw[0].interleave, 2);
	assert_int_equal(fake.hw[1].timeslice_us, 3000);
}

static void test_owner_is_overridden(void **state)
{
	struct gpusched_tsg *t = fake_tsg(1, 0);

	fake_want(t, GPUSCHED_TIMESLICE, 20);
	gs_engine_touch(engine, &t->key);
	settle();
	/* CUDA sets 2048 again; the record's asked stays equal, so only the event shows it */
	fake.hw[0].timeslice_us = 2048;
	gs_engine_owner_set(engine, &t->key, GPUSCHED_TIMESLICE, gs_now_ns());
	settle();
	assert_int_equal(fake.hw[0].timeslice_us, 20);
	assert_int_equal(counter(GS_ENG_OVERRIDDEN), 1);
	/* another value is noticed without the event */
	fake.hw[0].timeslice_us = t->task.asked.timeslice_us = 4000;
	gs_engine_touch(engine, &t->key);
	settle();
	assert_int_equal(fake.hw[0].timeslice_us, 20);
	assert_int_equal(counter(GS_ENG_OVERRIDDEN), 2);
	/* The wish is gone, and the owner sets its value: there is nothing to call or restore. */
	t->task.want.valid = 0;
	fake.hw[0].timeslice_us = 4000;
	fake.nlog = 0;
	gs_engine_owner_set(engine, &t->key, GPUSCHED_TIMESLICE, gs_now_ns());
	settle();
	assert_int_equal(fake.nlog, 0);
	assert_int_equal(t->changed, 0);
}

static void test_restarted_engine_trusts_nothing(void **state)
{
	struct gpusched_tsg *t = fake_tsg(1, 0);

	t->changed = t->task.is.valid = GPUSCHED_TIMESLICE;
	t->task.is.timeslice_us = 20;
	fake_want(t, GPUSCHED_TIMESLICE, 20);
	gs_engine_touch_all(engine);
	settle();
	assert_int_equal(fake_count(1, GS_RM_SET_TIMESLICE), 1);
}

static void test_scheduled_while_suspended(void **state)
{
	struct gpusched_tsg *t = fake_tsg(1, 0);

	fake_want(t, GPUSCHED_RUNNABLE, 0);
	gs_engine_touch(engine, &t->key);
	settle();
	assert_int_equal(fake_count(1, GS_RM_SUSPEND), 1);
	gs_engine_owner_set(engine, &t->key, GPUSCHED_RUNNABLE, gs_now_ns());
	settle();
	assert_int_equal(fake_count(1, GS_RM_SUSPEND), 2);
	gs_engine_touch(engine, &t->key);
	settle();
	assert_int_equal(fake_count(1, GS_RM_SUSPEND), 2);
}

static void test_doubted_suspension(void **state)
{
	struct gpusched_tsg *t = fake_tsg(1, 0);

	gs_engine_doubt(engine, &t->key);
	settle();
	assert_int_equal(fake.nlog, 0); /* the TSG runs anyway */
	fake_want(t, GPUSCHED_RUNNABLE, 0);
	gs_engine_touch(engine, &t->key);
	settle();
	gs_engine_doubt(engine, &t->key);
	settle();
	assert_int_equal(fake_count(1, GS_RM_SUSPEND), 2);
	/* a doubt about a TSG without a suspension: only the resume is called */
	fake_want(t, GPUSCHED_RUNNABLE, 1);
	gs_engine_doubt(engine, &t->key);
	settle();
	assert_int_equal(fake_count(1, GS_RM_RESUME), 1);
	assert_int_equal(fake_count(1, GS_RM_SUSPEND), 2);
}

static void test_order_within_and_across(void **state)
{
	struct gpusched_tsg *a = fake_tsg(1, 0), *b = fake_tsg(2, 0), *block = fake_tsg(3, 0);
	unsigned int begun;

	fake_want(a, GPUSCHED_TIMESLICE, 300);
	fake_want(a, GPUSCHED_RUNNABLE, 0);
	gs_engine_touch(engine, &a->key);
	settle();
	/* the suspension comes first, since it makes the other call harmless */
	assert_int_equal(fake.log[0].op, GS_RM_SUSPEND);
	fake.nlog = 0;
	fake_want(a, GPUSCHED_TIMESLICE, 5000);
	fake_want(a, GPUSCHED_RUNNABLE, 1);
	fake_want(b, GPUSCHED_TIMESLICE, 6000);
	/* keeps the worker busy, so that both calls wait in its queue */
	fake_slow(3, 1500 * NS_PER_MS);
	fake_want(block, GPUSCHED_TIMESLICE, 1000);
	begun = fake_begun();
	gs_engine_touch(engine, &block->key);
	wait_begun(begun + 1);
	gs_engine_touch_all(engine);
	settle();
	assert_int_equal(fake.nlog, 4);
	assert_int_equal(fake.log[1].tsg, 2); /* slices grow before a TSG is resumed */
	assert_int_equal(fake.log[2].op, GS_RM_SET_TIMESLICE);
	assert_int_equal(fake.log[3].op, GS_RM_RESUME);
}

/* ---- persons --------------------------------------------------------------------------------- */

static void test_person_before_policy(void **state)
{
	struct gpusched_tsg *t = fake_tsg(1, 0);
	struct gpusched_settings set = { .valid = GPUSCHED_TIMESLICE, .timeslice_us = 500 };
	struct gs_error err = { 0 };

	fake_want(t, GPUSCHED_TIMESLICE, 20);
	assert_int_equal(gs_engine_set_manual(engine, &t->key, &set, 0, 0, &err), 0);
	settle();
	assert_int_equal(fake.hw[0].timeslice_us, 500);
	assert_int_equal(gs_engine_clear_manual(engine, &t->key, GPUSCHED_TIMESLICE, 0), 0);
	settle();
	assert_int_equal(fake.hw[0].timeslice_us, 20);
	/* a person sets the owner's value: accepted and shown, with one call that ends the 20 us */
	set.timeslice_us = 2048;
	fake.nlog = 0;
	assert_int_equal(gs_engine_set_manual(engine, &t->key, &set, 0, 0, &err), 0);
	settle();
	assert_int_equal(fake.nlog, 1);
	assert_int_equal(t->task.is.timeslice_us, 2048);
	assert_int_equal(t->task.is.valid, GPUSCHED_TIMESLICE);
	assert_int_equal(t->changed, 0);
	gs_engine_clear_manual(engine, &t->key, GPUSCHED_TIMESLICE, 0);
	settle();
	set.timeslice_us = 0;
	assert_int_equal(gs_engine_set_manual(engine, &t->key, &set, 0, 0, &err), -ERANGE);
	assert_non_null(strstr(err.text, "1 to 100000000"));
	assert_int_equal(fake.hw[0].timeslice_us, 20);
}

static void test_modes_are_for_compute_tsgs(void **state)
{
	struct gpusched_tsg *copy = fake_tsg(1, 0), *old = fake_tsg(2, 0);
	struct gpusched_settings set = { .valid = GPUSCHED_PREEMPT_MODE, .preempt_mode = 2 };
	struct gs_error err = { 0 };

	copy->task.kind = GPUSCHED_KIND_COPY;
	assert_int_equal(gs_engine_set_manual(engine, &copy->key, &set, 0, 0, &err), -ENOTSUP);
	set.valid |= GPUSCHED_TIMESLICE;
	set.timeslice_us = 700;
	assert_int_equal(gs_engine_set_manual(engine, &copy->key, &set, 0, 0, NULL), 0);
	settle();
	assert_int_equal(fake.nlog, 1);
	assert_int_equal(copy->manual.valid, GPUSCHED_TIMESLICE);
	/* an assumed setting is set even if the wish equals the assumed value */
	old->task.assumed = GPUSCHED_PREEMPT_MODE;
	assert_int_equal(gs_engine_set_manual(engine, &old->key, &set, 0, 0, NULL), 0);
	settle();
	assert_int_equal(fake_count(2, GS_RM_SET_PREEMPT_MODE), 1);
}

static void test_persons_suspend_ends_in_time(void **state)
{
	struct gpusched_tsg *t = fake_tsg(1, 0);
	struct gpusched_settings set = { .valid = GPUSCHED_RUNNABLE, .runnable = 0 };

	assert_int_equal(gs_engine_set_manual(engine, &t->key, &set, 1500 * NS_PER_MS, 0, NULL), 0);
	settle();
	assert_int_equal(fake.hw[0].runnable, 0);
	assert_int_equal(t->suspend_by, GPUSCHED_BY_PERSON);
	run_until(fake.hw[0].runnable);
	settle();
	assert_int_equal(fake.hw[0].runnable, 1);
	assert_int_equal(t->manual.valid, 0);
	assert_int_equal(t->changed, 0);
	assert_int_equal(t->suspend_by, GPUSCHED_BY_NOBODY);
}

/* A new limit of a class in the table applies once the engine is given limits again. */
static void test_limits_of_classes_are_read_again(void **state)
{
	struct gpusched_tsg *t = fake_tsg(1, 0);
	uint64_t from = gs_now_ns();

	fake.cls.suspend_limit_ms = 500; /* before that it was 10 s */
	gs_engine_limits(engine, 200, 0);
	fake_want(t, GPUSCHED_RUNNABLE, 0);
	gs_engine_touch(engine, &t->key);
	settle();
	assert_int_equal(fake.hw[0].runnable, 0);
	run_until(fake.hw[0].runnable);
	assert_in_range(gs_now_ns() - from, 500 * NS_PER_MS, 9 * NS_PER_S);
}

static void test_preempt(void **state)
{
	struct gpusched_tsg *t = fake_tsg(1, 0);
	struct gpusched_key none = { .handle = 77 };
	struct gs_error err = { 0 };

	assert_int_equal(gs_engine_preempt(engine, &t->key, 0, &err), 0);
	settle();
	assert_int_equal(fake_count(1, GS_RM_PREEMPT), 1);
	assert_int_equal(t->changed, 0);
	assert_int_equal(gs_engine_preempt(engine, &none, 0, &err), -ENOENT);
	assert_non_null(strstr(err.text, "gone"));
}

/* ---- failures -------------------------------------------------------------------------------- */

static void test_backoff_then_success(void **state)
{
	struct gpusched_tsg *t = fake_tsg(1, 0);

	fake.fail_op = GS_RM_SET_TIMESLICE;
	fake.fail_times = 3;
	fake_want(t, GPUSCHED_TIMESLICE, 20);
	fake_want(t, GPUSCHED_INTERLEAVE, 2);
	gs_engine_touch(engine, &t->key);
	settle();
	assert_int_equal(fake.hw[0].timeslice_us, 20);
	assert_int_equal(fake.hw[0].interleave, 2);
	/* the wish, the owner's slice until a call succeeds, and the wish again */
	assert_int_equal(fake_count(1, GS_RM_SET_TIMESLICE), 5);
	assert_int_equal(fake.log[2].arg, 2048);
	assert_int_equal(fake.log[4].arg, 2048);
	/* the timeslice's failures do not delay the interleave level */
	assert_int_equal(fake_count(1, GS_RM_SET_INTERLEAVE), 1);
	assert_int_equal(counter(GS_ENG_RETRIES), 3);
	assert_int_equal(counter(GS_ENG_CALLS_FAILED), 3);
	assert_true(fake.log[5].ns - fake.log[0].ns >= 30 * NS_PER_MS); /* 10 + 20 */
	assert_int_equal(t->errors, 0);
}

static void test_failed_call_leaves_the_setting_unknown(void **state)
{
	struct gpusched_tsg *t = fake_tsg(1, 0);

	fake.fail_op = GS_RM_SET_TIMESLICE;
	fake.fail_times = 1000000;
	fake_want(t, GPUSCHED_TIMESLICE, 20);
	gs_engine_touch(engine, &t->key);
	run_until(t->errors > 0);
	assert_int_equal(t->last_status, 0x65);
	assert_int_equal(t->changed, GPUSCHED_TIMESLICE);
	assert_int_equal(t->task.is.valid, 0);
	fake.fail_times = 0;
	t->task.want.valid = 0;
	gs_engine_touch(engine, &t->key);
	settle();
	assert_int_equal(t->changed, 0);
	assert_int_equal(fake.hw[0].timeslice_us, 2048);
}

static void test_dead_owner_is_left_alone(void **state)
{
	struct gpusched_tsg *t = fake_tsg(1, 0);

	fake.fail_op = GS_RM_SET_TIMESLICE;
	fake.fail_err = -ESRCH;
	fake.fail_times = 1000000;
	fake_want(t, GPUSCHED_TIMESLICE, 20);
	for (int i = 0; i < 5; i++) {
		gs_engine_touch_all(engine);
		settle();
	}
	assert_int_equal(fake.nlog, 1);
	gs_engine_forget(engine, &t->key);
	fake.n = 0;
	assert_int_equal(gs_engine_touch(engine, &t->key), -ENOENT);
	settle();
}

/* A setting that remained after the owner's death is restored once another process has its file. */
static void test_new_owner_is_told(void **state)
{
	struct gpusched_tsg *t = fake_tsg(1, 0);

	fake_want(t, GPUSCHED_RUNNABLE, 0);
	gs_engine_touch(engine, &t->key);
	settle();
	assert_int_equal(fake.hw[0].runnable, 0);
	fake.fail_op = GS_RM_RESUME;
	fake.fail_err = -ESRCH;
	fake.fail_times = 1;
	fake_want(t, GPUSCHED_RUNNABLE, 1);
	gs_engine_touch(engine, &t->key);
	settle();
	assert_int_equal(fake.hw[0].runnable, 0);
	t->task.pid++;
	gs_engine_touch(engine, &t->key);
	settle();
	assert_int_equal(fake.hw[0].runnable, 1);
}

/* A person who repeats a request gets the new result, not the old one. */
static void test_second_resume_of_a_person(void **state)
{
	const struct gpusched_settings suspend = { .valid = GPUSCHED_RUNNABLE, .runnable = 0 };
	struct gpusched_tsg *t = fake_tsg(1, 0);

	assert_int_equal(gs_engine_set_manual(engine, &t->key, &suspend, 0, 0, NULL), 0);
	settle();
	fake.fail_op = GS_RM_RESUME;
	fake.fail_err = -ESRCH;
	fake.fail_times = 1;
	assert_int_equal(gs_engine_clear_manual(engine, &t->key, GPUSCHED_RUNNABLE, 0), 0);
	settle();
	assert_int_equal(fake.hw[0].runnable, 0);
	assert_int_equal(gs_engine_clear_manual(engine, &t->key, GPUSCHED_RUNNABLE, 0), 0);
	settle();
	assert_int_equal(fake.hw[0].runnable, 1);
}

static void test_stuck_call_holds_up_one_thread(void **state)
{
	struct gpusched_tsg *a = fake_tsg(1, 0), *b = fake_tsg(2, 1);

	gs_engine_ops.stuck_ns = 50 * NS_PER_MS;
	fake_slow(1, 1500 * NS_PER_MS);
	fake_want(a, GPUSCHED_TIMESLICE, 20);
	fake_want(b, GPUSCHED_TIMESLICE, 20);
	gs_engine_touch_all(engine);
	run_until(counter(GS_ENG_STUCK) == 1 && fake.hw[1].timeslice_us == 20);
	assert_int_equal(fake.hw[0].timeslice_us, 2048);
	settle(); /* the late call came back */
	assert_int_equal(fake.hw[0].timeslice_us, 20);
	assert_int_equal(counter(GS_ENG_STUCK), 1);
}

/* While an owner holds the lock of its execve(), calls for its TSG wait, and delay no other TSG. */
static void test_locked_owner_holds_up_nobody(void **state)
{
	struct gpusched_tsg *a = fake_tsg(1, 0), *b = fake_tsg(2, 0);
	uint64_t begin = gs_now_ns();
	unsigned int n;

	a->task.uid = 1000;
	fake_lock(1, true);
	fake_want(a, GPUSCHED_TIMESLICE, 300);
	gs_engine_touch(engine, &a->key);
	gs_sleep_ns(20 * NS_PER_MS); /* the call is under way */
	fake_want(b, GPUSCHED_TIMESLICE, 400);
	gs_engine_touch(engine, &b->key);
	run_until(fake.hw[1].timeslice_us == 400);
	assert_true(gs_now_ns() - begin < 2 * NS_PER_S);
	assert_int_equal(counter(GS_ENG_LEFT_BEHIND), 1);
	run_for(500); /* further tries use no further thread */
	assert_int_equal(counter(GS_ENG_LEFT_BEHIND), 1);
	assert_int_equal(counter(GS_ENG_GAVE_UP), 0);
	assert_int_equal(fake_count(1, GS_RM_SET_TIMESLICE), 0);
	n = fake.nlog;
	fake_lock(1, false);
	run_until(fake.hw[0].timeslice_us == 300);
	settle();
	assert_int_equal(fake_count(1, GS_RM_SET_TIMESLICE), 1);
	assert_int_equal(fake.nlog, n + 1); /* the late answer was dropped */
}

/* The engine's end does not wait for a locked owner, and an answer after the end causes no call. */
static void test_end_with_a_locked_owner(void **state)
{
	struct gpusched_tsg *a = fake_tsg(1, 0);

	fake_lock(1, true);
	fake_want(a, GPUSCHED_TIMESLICE, 20);
	gs_engine_touch(engine, &a->key);
	gs_sleep_ns(20 * NS_PER_MS);
	gs_engine_free(engine);
	fake_lock(1, false);
	gs_sleep_ns(100 * NS_PER_MS);
	assert_int_equal(fake_count(1, GS_RM_SET_TIMESLICE), 0);
	make_engine(false);
}

static void test_dry_run_calls_nothing(void **state)
{
	struct gpusched_tsg *t = fake_tsg(1, 0);
	struct gpusched_settings set = { .valid = GPUSCHED_RUNNABLE, .runnable = 0 };

	gs_engine_free(engine);
	make_engine(true);
	fake_want(t, GPUSCHED_TIMESLICE, 20);
	for (int i = 0; i < 3; i++)
		gs_engine_touch_all(engine);
	assert_int_equal(told_dry, 1); /* reported once */
	gs_engine_set_manual(engine, &t->key, &set, 0, 0, NULL);
	gs_engine_preempt(engine, &t->key, 0, NULL);
	settle();
	assert_int_equal(fake.nlog, 0);
	assert_int_equal(told_dry, 3);
	assert_int_equal(told, 3);
	assert_int_equal(counter(GS_ENG_DRY_RUN), 3);
	assert_int_equal(t->changed, 0);
	assert_int_equal(t->manual.valid, 0);
	assert_int_equal(t->task.is.valid, 0);
}

static void test_selves_are_taken_back(void **state)
{
	assert_int_equal(fake.selves, 1);
	gs_engine_free(engine);
	assert_int_equal(fake.selves, 0);
	make_engine(false);
}

/* A TSG ends during a call on it, and another TSG gets its handles at once. */
static void test_same_handles_again(void **state)
{
	struct gpusched_tsg *t = fake_tsg(1, 0);
	unsigned int begun;

	fake_want(t, GPUSCHED_TIMESLICE, 300);
	fake_slow(1, 200 * NS_PER_MS);
	gs_engine_touch(engine, &t->key);
	wait_begun(1);
	gs_engine_forget(engine, &t->key);
	pthread_mutex_lock(&fake.lock);
	t->task.id = 99;
	t->task.want.timeslice_us = 400;
	pthread_mutex_unlock(&fake.lock);
	gs_engine_touch(engine, &t->key);
	settle();
	assert_int_equal(fake.hw[0].timeslice_us, 400);
	/* the new TSG gets its owner's value back, since the call may have reached it */
	fake_want(t, GPUSCHED_TIMESLICE, 500);
	begun = fake_begun();
	gs_engine_touch(engine, &t->key);
	wait_begun(begun + 1);
	gs_engine_forget(engine, &t->key);
	pthread_mutex_lock(&fake.lock);
	t->task.id = 100;
	t->task.want.valid = t->task.is.valid = t->changed = 0;
	pthread_mutex_unlock(&fake.lock);
	gs_engine_touch(engine, &t->key);
	settle();
	assert_int_equal(fake.hw[0].timeslice_us, 2048);
	assert_int_equal(t->changed, 0);
}

/* After the engine's end, a worker with a hanging call does not make its remaining calls. */
static void test_left_behind_worker_stops(void **state)
{
	struct gpusched_tsg *t = fake_tsg(1, 0);

	fake_want(t, GPUSCHED_TIMESLICE, 300);
	fake_want(t, GPUSCHED_INTERLEAVE, 2);
	fake_slow(1, 2500 * NS_PER_MS);
	gs_engine_touch(engine, &t->key);
	wait_begun(1);
	gs_engine_free(engine); /* freeing waits for a second */
	fake_slow(0, 0);
	for (int i = 0; i < 1000 && !fake_count(1, GS_RM_SET_TIMESLICE); i++)
		gs_sleep_ns(10 * NS_PER_MS);
	gs_sleep_ns(300 * NS_PER_MS);
	assert_int_equal(fake_count(1, GS_RM_SET_TIMESLICE), 1);
	assert_int_equal(fake_count(1, GS_RM_SET_INTERLEAVE), 0);
	make_engine(false);
}

/* The owner sets its slice during the engine's call, which reaches the driver last. */
static void owner_races(bool at_once)
{
	struct gpusched_tsg *t = fake_tsg(1, 0);
	unsigned int begun;
	uint64_t then;

	fake_want(t, GPUSCHED_TIMESLICE, 300);
	gs_engine_touch(engine, &t->key);
	settle();
	fake_slow(1, 200 * NS_PER_MS);
	t->task.want.valid = 0;
	begun = fake_begun();
	gs_engine_touch(engine, &t->key); /* puts 2048 back */
	wait_begun(begun + 1);
	then = gs_now_ns();
	pthread_mutex_lock(&fake.lock);
	fake.hw[0].timeslice_us = t->task.asked.timeslice_us = t->task.is.timeslice_us = 4000;
	pthread_mutex_unlock(&fake.lock);
	if (at_once)
		gs_engine_owner_set(engine, &t->key, GPUSCHED_TIMESLICE, then);
	settle();
	if (!at_once) /* the event comes only after the end of the engine's call */
		gs_engine_owner_set(engine, &t->key, GPUSCHED_TIMESLICE, then);
	settle();
	assert_int_equal(fake.hw[0].timeslice_us, 4000);
	assert_int_equal(t->changed, 0);
}

static void test_owner_races_and_is_told(void **state)
{
	owner_races(true);
}

static void test_owner_races_and_is_told_late(void **state)
{
	owner_races(false);
}

/* The caller that asked for a preemption gets its result. */
static void test_preempt_tells_its_end(void **state)
{
	struct gpusched_tsg *t = fake_tsg(1, 0);
	struct gs_rm_result res = { 0 };

	assert_int_equal(gs_engine_preempted(engine, &t->key, &res), -ENOENT);
	fake_slow(1, 50 * NS_PER_MS);
	assert_int_equal(gs_engine_preempt(engine, &t->key, 0, NULL), 0);
	assert_int_equal(gs_engine_preempted(engine, &t->key, &res), -EINPROGRESS);
	settle();
	assert_int_equal(gs_engine_preempted(engine, &t->key, &res), 0);
	fake.fail_op = GS_RM_PREEMPT;
	fake.fail_times = 1;
	assert_int_equal(gs_engine_preempt(engine, &t->key, 0, NULL), 0);
	settle();
	assert_int_equal(gs_engine_preempted(engine, &t->key, &res), -EREMOTEIO);
	assert_int_equal(res.status, 0x65);
	assert_int_equal(gs_engine_preempt(engine, &t->key, 0, NULL), 0);
	settle();
	assert_int_equal(gs_engine_preempted(engine, &t->key, &res), 0);
}

/* Does one random thing to a TSG. */
static void happen(unsigned int what, struct gpusched_tsg *t, uint32_t value)
{
	const struct gpusched_settings set = { .valid = what < 8 ? GPUSCHED_RUNNABLE
								 : GPUSCHED_TIMESLICE,
					       .timeslice_us = 20 + value,
					       .runnable = value & 1 };

	switch (what) {
	case 0:
		pthread_mutex_lock(&fake.lock);
		t->task.id += MAX_REC; /* a new TSG with the same handles */
		t->changed = 0;
		pthread_mutex_unlock(&fake.lock);
		gs_engine_touch(engine, &t->key);
		break;
	case 1:
		gs_engine_forget(engine, &t->key);
		break;
	case 2:
		gs_engine_owner_set(engine, &t->key, GPUSCHED_TIMESLICE, gs_now_ns());
		break;
	case 3:
		gs_engine_doubt(engine, &t->key);
		break;
	case 4:
		gs_engine_preempt(engine, &t->key, 0, NULL);
		break;
	case 5:
		fake.fail_op = GS_RM_SET_TIMESLICE + (int)value % 4;
		fake.fail_err = value & 1 ? -EREMOTEIO : -ESRCH;
		fake.fail_times = value % 5;
		break;
	case 6:
		gs_engine_clear_manual(engine, &t->key, GPUSCHED_ALL_SETTINGS, 0);
		break;
	case 7:
	case 8:
		gs_engine_set_manual(engine, &t->key, &set, NS_PER_MS, 0, NULL);
		break;
	case 9:
		fake.cfg.policy_active = value % 4 != 0;
		gs_engine_touch_all(engine);
		break;
	case 10:
		gs_engine_limits(engine, value & 2 ? 50 + 40 * value : 0, 0);
		gs_engine_costs(engine, value & 1, 100 * value);
		gs_engine_spent(engine, value & 1, value * NS_PER_US);
		break;
	default:
		fake_want(t, value & 1 ? GPUSCHED_RUNNABLE : GPUSCHED_TIMESLICE,
			  value & 1 ? value >> 1 & 1 : 100 * value);
		gs_engine_touch_all(engine);
	}
}

/*
 * Records a run of the engine with random events, and replays it to another core, which must give
 * the same outputs.
 */
static void say_again(unsigned int seed, bool *seen)
{
	enum { TSGS = 6 };
	static unsigned char data[64 << 20];
	char name[] = "/tmp/core-trace-XXXXXX", path[64];
	struct gpusched_tsg *t[TSGS];
	struct replay r;
	size_t size;
	FILE *f;

	assert_true(mkstemp(name) >= 0);
	setenv("GPUSCHED_CORE_TRACE", name, 1);
	gs_engine_free(engine);
	make_engine(false);
	unsetenv("GPUSCHED_CORE_TRACE");
	for (uint32_t i = 0; i < TSGS; i++)
		t[i] = fake_tsg(seed * TSGS + i + 1, i & 1);
	for (unsigned int i = 0; i < 2000; i++) {
		happen((unsigned int)rand_r(&seed) % 20, t[rand_r(&seed) % TSGS],
		       (uint32_t)rand_r(&seed) % 8);
		gs_engine_dispatch(engine);
	}
	gs_engine_free(engine);
	make_engine(false);
	snprintf(path, sizeof(path), "%s.%d", name, (int)getpid());
	f = fopen(path, "r");
	assert_non_null(f);
	size = fread(data, 1, sizeof(data), f);
	fclose(f);
	unlink(path);
	unlink(name);
	assert_true(replay_trace(&r, data, size));
	for (size_t i = 0; i < GS_COUNT(r.inputs); i++)
		seen[i] |= r.inputs[i] > 0;
	assert_true(r.todos > 100);
	/* a changed output is detected */
	data[r.last_todo + sizeof(struct gs_core_trace) + offsetof(struct gs_todo, poke.what)] ^= 1;
	assert_false(replay_trace(&r, data, size));
}

/* Which kinds of input come depends on the workers' timing: runs until each kind has come. */
static void test_core_says_the_same_again(void **state)
{
	bool seen[GS_COUNT(((struct replay *)NULL)->inputs)] = { false }, all = false;

	for (unsigned int seed = 1; seed <= 10 && !all; seed++) {
		say_again(seed, seen);
		all = true;
		for (size_t i = 0; i < GS_COUNT(seen); i++)
			all = all && seen[i];
	}
	assert_true(all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_wish_becomes_is),
		T(test_changed_is_in_the_table_before_the_call),
		T(test_policy_counts_only_while_active),
		T(test_overtaken),
		T(test_owner_is_overridden),
		T(test_restarted_engine_trusts_nothing),
		T(test_scheduled_while_suspended),
		T(test_doubted_suspension),
		T(test_order_within_and_across),
		T(test_person_before_policy),
		T(test_modes_are_for_compute_tsgs),
		T(test_persons_suspend_ends_in_time),
		T(test_limits_of_classes_are_read_again),
		T(test_preempt),
		T(test_preempt_tells_its_end),
		T(test_owner_races_and_is_told),
		T(test_owner_races_and_is_told_late),
		T(test_backoff_then_success),
		T(test_failed_call_leaves_the_setting_unknown),
		T(test_dead_owner_is_left_alone),
		T(test_new_owner_is_told),
		T(test_second_resume_of_a_person),
		T(test_stuck_call_holds_up_one_thread),
		T(test_locked_owner_holds_up_nobody),
		T(test_end_with_a_locked_owner),
		T(test_dry_run_calls_nothing),
		T(test_same_handles_again),
		T(test_left_behind_worker_stops),
		T(test_selves_are_taken_back),
		T(test_core_says_the_same_again),
	};

	return cmocka_run_group_tests_name("engine", tests, NULL, NULL);
}
