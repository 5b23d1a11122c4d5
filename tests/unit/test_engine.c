// SPDX-License-Identifier: MIT
/* test_engine.c - the reconciler and its laws against a fake table and a fake RM */
#include "engine_fake.h"
#include "gpusched/policy_types.h"

static struct gs_engine *engine;
static unsigned int told, told_dry;

static void on_call(const struct gs_engine_call *call, void *user)
{
	told++;
	told_dry += call->dry_run;
	assert_non_null(gs_rm_op_name(call->op));
}

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
		.on_call = on_call,
	};
	struct gs_error err = { 0 };

	assert_int_equal(gs_engine_new((struct gs_observe *)&fake, &opts, &engine, &err), 0);
}

static int setup(void **state)
{
	fake_reset();
	told = told_dry = 0;
	make_engine(false);
	return 0;
}

static int teardown(void **state)
{
	gs_engine_free(engine);
	return 0;
}

static void settle(void)
{
	assert_int_equal(gs_engine_settle(engine, 5000), 0);
}

/* Dispatches for a while, settled or not. */
static void run_for(unsigned int ms)
{
	uint64_t end = gs_now_ns() + ms * NS_PER_MS;

	while (gs_now_ns() < end) {
		gs_engine_dispatch(engine);
		gs_sleep_ns(NS_PER_MS);
	}
}

static uint64_t counter(enum gs_engine_counter c)
{
	return gs_engine_counter(engine, c);
}

/* ---- the plain path -------------------------------------------------------------------------- */

static void test_wish_becomes_is(void **state)
{
	struct gpusched_tsg *t = fake_tsg(1, 0);

	gs_engine_touch(engine, &t->key);
	settle();
	assert_int_equal(fake.nlog, 0); /* nothing wanted, nothing called */

	fake_want(t, GPUSCHED_TIMESLICE, 20);
	fake_want(t, GPUSCHED_PREEMPT_MODE, GPUSCHED_PREEMPT_CTA);
	gs_engine_touch(engine, &t->key);
	settle();
	assert_int_equal(fake.nlog, 2);
	assert_int_equal(fake.hw[0].timeslice_us, 20);
	assert_int_equal(fake.hw[0].preempt_mode, GPUSCHED_PREEMPT_CTA);
	assert_int_equal(t->task.is.timeslice_us, 20);
	assert_int_equal(t->task.is.valid, GPUSCHED_TIMESLICE | GPUSCHED_PREEMPT_MODE);
	assert_int_equal(t->changed, GPUSCHED_TIMESLICE | GPUSCHED_PREEMPT_MODE);
	assert_int_equal(counter(GS_ENG_CALLS), 2);
	assert_int_equal(told, 2);

	gs_engine_touch_all(engine);
	settle();
	assert_int_equal(fake.nlog, 2); /* it is as it should be */

	t->task.want.valid = 0;
	gs_engine_touch(engine, &t->key);
	settle();
	assert_int_equal(fake.hw[0].timeslice_us, 2048);
	assert_int_equal(fake.hw[0].preempt_mode, 2);
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

static void test_owner_is_overridden(void **state)
{
	struct gpusched_tsg *t = fake_tsg(1, 0);

	fake_want(t, GPUSCHED_TIMESLICE, 20);
	gs_engine_touch(engine, &t->key);
	settle();
	/* CUDA's own 2048 comes later; asked is equal, so only the event tells */
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
	/* no wish any more, and the owner sets it itself: nothing to call, nothing left changed */
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

static void test_order_within_and_across(void **state)
{
	struct gpusched_tsg *a = fake_tsg(1, 0), *b = fake_tsg(2, 0), *block = fake_tsg(3, 0);

	fake_want(a, GPUSCHED_TIMESLICE, 300);
	fake_want(a, GPUSCHED_RUNNABLE, 0);
	gs_engine_touch(engine, &a->key);
	settle();
	assert_int_equal(fake.log[0].op, GS_RM_SUSPEND); /* before what it makes harmless */
	fake.nlog = 0;
	fake_want(a, GPUSCHED_TIMESLICE, 5000);
	fake_want(a, GPUSCHED_RUNNABLE, 1);
	fake_want(b, GPUSCHED_TIMESLICE, 6000);
	/* the worker is kept busy, so that both wait in its queue */
	fake_slow(3, 1500 * NS_PER_MS);
	fake_want(block, GPUSCHED_TIMESLICE, 1000);
	gs_engine_touch(engine, &block->key);
	gs_sleep_ns(100 * NS_PER_MS);
	gs_engine_touch_all(engine);
	settle();
	assert_int_equal(fake.nlog, 4);
	assert_int_equal(fake.log[1].tsg, 2); /* slices grow before anything is enabled */
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
	assert_int_equal(gs_engine_set_manual(engine, &t->key, &set, 0, &err), 0);
	settle();
	assert_int_equal(fake.hw[0].timeslice_us, 500);
	assert_int_equal(gs_engine_clear_manual(engine, &t->key, GPUSCHED_TIMESLICE), 0);
	settle();
	assert_int_equal(fake.hw[0].timeslice_us, 20);
	/* what the owner has anyway: accepted and shown, one call to leave 20 */
	set.timeslice_us = 2048;
	fake.nlog = 0;
	assert_int_equal(gs_engine_set_manual(engine, &t->key, &set, 0, &err), 0);
	settle();
	assert_int_equal(fake.nlog, 1);
	assert_int_equal(t->task.is.timeslice_us, 2048);
	assert_int_equal(t->task.is.valid, GPUSCHED_TIMESLICE);
	assert_int_equal(t->changed, 0);
	gs_engine_clear_manual(engine, &t->key, GPUSCHED_TIMESLICE);
	settle();
	set.timeslice_us = 0;
	assert_int_equal(gs_engine_set_manual(engine, &t->key, &set, 0, &err), -ERANGE);
	assert_non_null(strstr(err.text, "1 to 100000000"));
	assert_int_equal(fake.hw[0].timeslice_us, 20);
}

static void test_modes_are_for_compute_tsgs(void **state)
{
	struct gpusched_tsg *copy = fake_tsg(1, 0), *old = fake_tsg(2, 0);
	struct gpusched_settings set = { .valid = GPUSCHED_PREEMPT_MODE, .preempt_mode = 2 };
	struct gs_error err = { 0 };

	copy->task.kind = GPUSCHED_KIND_COPY;
	assert_int_equal(gs_engine_set_manual(engine, &copy->key, &set, 0, &err), -ENOTSUP);
	set.valid |= GPUSCHED_TIMESLICE;
	set.timeslice_us = 700;
	assert_int_equal(gs_engine_set_manual(engine, &copy->key, &set, 0, NULL), 0);
	settle();
	assert_int_equal(fake.nlog, 1);
	assert_int_equal(copy->manual.valid, GPUSCHED_TIMESLICE);
	/* an assumed setting is set even to what it is assumed to be */
	old->task.assumed = GPUSCHED_PREEMPT_MODE;
	assert_int_equal(gs_engine_set_manual(engine, &old->key, &set, 0, NULL), 0);
	settle();
	assert_int_equal(fake_count(2, GS_RM_SET_PREEMPT_MODE), 1);
}

static void test_persons_suspend_ends_in_time(void **state)
{
	struct gpusched_tsg *t = fake_tsg(1, 0);
	struct gpusched_settings set = { .valid = GPUSCHED_RUNNABLE, .runnable = 0 };

	assert_int_equal(gs_engine_set_manual(engine, &t->key, &set, 80 * NS_PER_MS, NULL), 0);
	settle();
	assert_int_equal(fake.hw[0].runnable, 0);
	assert_int_equal(t->suspend_by, GPUSCHED_BY_PERSON);
	run_for(200);
	assert_int_equal(fake.hw[0].runnable, 1);
	assert_int_equal(t->manual.valid, 0);
	assert_int_equal(t->changed, 0);
	assert_int_equal(t->suspend_by, GPUSCHED_BY_NOBODY);
}

static void test_preempt(void **state)
{
	struct gpusched_tsg *t = fake_tsg(1, 0);
	struct gpusched_key none = { .handle = 77 };
	struct gs_error err = { 0 };

	assert_int_equal(gs_engine_preempt(engine, &t->key, &err), 0);
	settle();
	assert_int_equal(fake_count(1, GS_RM_PREEMPT), 1);
	assert_int_equal(t->changed, 0);
	assert_int_equal(gs_engine_preempt(engine, &none, &err), -ENOENT);
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
	assert_int_equal(gs_engine_settle(engine, 5000), 0);
	assert_int_equal(fake.hw[0].timeslice_us, 20);
	assert_int_equal(fake.hw[0].interleave, 2);
	assert_int_equal(fake_count(1, GS_RM_SET_TIMESLICE), 4);
	assert_int_equal(fake_count(1, GS_RM_SET_INTERLEAVE), 1); /* not held back by the other */
	assert_int_equal(counter(GS_ENG_RETRIES), 3);
	assert_int_equal(counter(GS_ENG_CALLS_FAILED), 3);
	assert_true(fake.log[4].ns - fake.log[0].ns >= 70 * NS_PER_MS); /* 10 + 20 + 40 */
	assert_int_equal(t->errors, 0);
}

static void test_refused_call_leaves_nothing_changed(void **state)
{
	struct gpusched_tsg *t = fake_tsg(1, 0);

	fake.fail_op = GS_RM_SET_TIMESLICE;
	fake.fail_times = 1000000;
	fake_want(t, GPUSCHED_TIMESLICE, 20);
	gs_engine_touch(engine, &t->key);
	run_for(30);
	assert_int_equal(t->changed, 0);
	assert_int_equal(t->last_status, 0x65);
	assert_true(t->errors > 0);
	assert_false(gs_engine_idle(engine));
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

static void test_stuck_call_holds_up_its_gpu_only(void **state)
{
	struct gpusched_tsg *a = fake_tsg(1, 0), *b = fake_tsg(2, 1);

	gs_engine_ops.stuck_ns = 50 * NS_PER_MS;
	fake_slow(1, 400 * NS_PER_MS);
	fake_want(a, GPUSCHED_TIMESLICE, 20);
	fake_want(b, GPUSCHED_TIMESLICE, 20);
	gs_engine_touch_all(engine);
	run_for(150);
	assert_int_equal(counter(GS_ENG_STUCK), 1);
	assert_int_equal(fake.hw[1].timeslice_us, 20);
	settle(); /* it came back after all */
	assert_int_equal(fake.hw[0].timeslice_us, 20);
	assert_int_equal(counter(GS_ENG_STUCK), 1);
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
	assert_int_equal(told_dry, 1); /* told once */
	gs_engine_set_manual(engine, &t->key, &set, 0, NULL);
	gs_engine_preempt(engine, &t->key, NULL);
	settle();
	assert_int_equal(fake.nlog, 0);
	assert_int_equal(told_dry, 3);
	assert_int_equal(told, 3);
	assert_int_equal(counter(GS_ENG_DRY_RUN), 3);
	assert_int_equal(t->changed, 0);
	assert_int_equal(t->manual.valid, 0);
	assert_int_equal(t->task.is.valid, 0);
}

/* ---- laws ------------------------------------------------------------------------------------ */

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
	settle();
	run_for(5);
	assert_int_equal(fake.hw[0].timeslice_us, 800);
	assert_int_equal(fake.hw[1].timeslice_us, 800);
	assert_int_equal(counter(GS_ENG_REFUSED_SLICE), 2);
	/* one of them suspended: the other may have it */
	fake_want(b, GPUSCHED_RUNNABLE, 0);
	gs_engine_touch(engine, &b->key);
	run_for(5);
	settle();
	assert_int_equal(fake.hw[0].timeslice_us, 20);
	assert_int_equal(short_slices(), 2);
	/* the last one goes */
	b->task.want.valid = 0;
	fake_want(b, GPUSCHED_TIMESLICE, 20);
	gs_engine_touch(engine, &b->key);
	run_for(5);
	assert_int_equal(short_slices(), 1);
	gs_engine_forget(engine, &a->key);
	run_for(5);
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
	assert_int_equal(fake.hw[0].timeslice_us, 20);
	run_for(300);
	assert_int_equal(fake.hw[0].timeslice_us, 800);
	assert_int_equal(counter(GS_ENG_STARVED), 1);
	for (int i = 0; i < 30; i++) {
		t->task.launches++;
		run_for(10);
	}
	assert_int_equal(fake.hw[0].timeslice_us, 20);
}

static void test_policy_cannot_suspend_for_ever(void **state)
{
	struct gpusched_tsg *t = fake_tsg(1, 0);

	fake.cls.suspend_limit_ms = 80;
	fake_want(t, GPUSCHED_RUNNABLE, 0);
	gs_engine_touch(engine, &t->key);
	settle();
	assert_int_equal(fake.hw[0].runnable, 0);
	assert_int_equal(t->suspend_by, GPUSCHED_BY_POLICY);
	run_for(200);
	assert_int_equal(fake.hw[0].runnable, 1);
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
	uint64_t begin = gs_now_ns(), spent;

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
	/* who has had no call yet does not wait for that */
	fake_want(fresh, GPUSCHED_TIMESLICE, 900);
	gs_engine_touch(engine, &fresh->key);
	run_for(50);
	assert_int_equal(fake.hw[1].timeslice_us, 900);
	/* and a person neither, also where the policy has something to change beside it */
	fake_want(t, GPUSCHED_INTERLEAVE, 2);
	gs_engine_set_manual(engine, &t->key, &set, 0, NULL);
	run_for(50);
	assert_int_equal(fake.hw[0].timeslice_us, 700);
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

static void test_selves_are_taken_back(void **state)
{
	assert_int_equal(fake.selves, 1);
	gs_engine_free(engine);
	assert_int_equal(fake.selves, 0);
	make_engine(false);
}

/* The owner sets a slice while our own call on it is under way, and ours comes last. */
static void owner_races(bool at_once)
{
	struct gpusched_tsg *t = fake_tsg(1, 0);
	uint64_t then;

	fake_want(t, GPUSCHED_TIMESLICE, 300);
	gs_engine_touch(engine, &t->key);
	settle();
	fake_slow(1, 50 * NS_PER_MS);
	t->task.want.valid = 0;
	gs_engine_touch(engine, &t->key); /* puts 2048 back */
	gs_sleep_ns(10 * NS_PER_MS);
	then = gs_now_ns();
	pthread_mutex_lock(&fake.lock);
	fake.hw[0].timeslice_us = t->task.asked.timeslice_us = t->task.is.timeslice_us = 4000;
	pthread_mutex_unlock(&fake.lock);
	if (at_once)
		gs_engine_owner_set(engine, &t->key, GPUSCHED_TIMESLICE, then);
	settle();
	if (!at_once) /* the event comes after the call's end */
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

/* Whoever asked for a preemption is told how it ended. */
static void test_preempt_tells_its_end(void **state)
{
	struct gpusched_tsg *t = fake_tsg(1, 0);
	struct gs_rm_result res = { 0 };

	assert_int_equal(gs_engine_preempted(engine, &t->key, &res), -ENOENT);
	fake_slow(1, 50 * NS_PER_MS);
	assert_int_equal(gs_engine_preempt(engine, &t->key, NULL), 0);
	assert_int_equal(gs_engine_preempted(engine, &t->key, &res), -EINPROGRESS);
	settle();
	assert_int_equal(gs_engine_preempted(engine, &t->key, &res), 0);
	fake.fail_op = GS_RM_PREEMPT;
	fake.fail_times = 1;
	assert_int_equal(gs_engine_preempt(engine, &t->key, NULL), 0);
	settle();
	assert_int_equal(gs_engine_preempted(engine, &t->key, &res), -EREMOTEIO);
	assert_int_equal(res.status, 0x65);
	assert_int_equal(gs_engine_preempt(engine, &t->key, NULL), 0);
	settle();
	assert_int_equal(gs_engine_preempted(engine, &t->key, &res), 0);
}

int main(void)
{
#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_wish_becomes_is),
		T(test_changed_is_in_the_table_before_the_call),
		T(test_policy_counts_only_while_active),
		T(test_owner_is_overridden),
		T(test_restarted_engine_trusts_nothing),
		T(test_scheduled_while_suspended),
		T(test_order_within_and_across),
		T(test_person_before_policy),
		T(test_modes_are_for_compute_tsgs),
		T(test_persons_suspend_ends_in_time),
		T(test_preempt),
		T(test_preempt_tells_its_end),
		T(test_owner_races_and_is_told),
		T(test_owner_races_and_is_told_late),
		T(test_backoff_then_success),
		T(test_refused_call_leaves_nothing_changed),
		T(test_dead_owner_is_left_alone),
		T(test_stuck_call_holds_up_its_gpu_only),
		T(test_dry_run_calls_nothing),
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
		T(test_selves_are_taken_back),
	};

	return cmocka_run_group_tests_name("engine", tests, NULL, NULL);
}
