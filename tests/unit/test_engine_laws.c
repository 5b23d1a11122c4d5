// SPDX-License-Identifier: MIT
/*
 * test_engine_laws.c - check the rules that the engine keeps for any policy, in simulated time
 */
#include "core_world.h"
#include "engine/switch_cost.h"
#include "gpusched/policy_types.h"

static void test_switch_cost_rule(void **state)
{
	struct gpusched_tsg *a = new_tsg(1, 0), *b = new_tsg(2, 0), *c = new_tsg(3, 1);

	want(a, GPUSCHED_TIMESLICE, 20);
	want(c, GPUSCHED_TIMESLICE, 20);
	touch_all();
	settle();
	assert_int_equal(world.hw[0].timeslice_us, 20);
	assert_int_equal(world.hw[2].timeslice_us, 20); /* another GPU */
	want(b, GPUSCHED_TIMESLICE, 20);
	touch(b);
	settle();
	assert_int_equal(world.hw[0].timeslice_us, 800);
	assert_int_equal(world.hw[1].timeslice_us, 800);
	assert_int_equal(counter(GS_ENG_REFUSED_SLICE), 2);
	assert_int_equal(gs_core_overruled(world.core, &a->key), 1u << GS_OVERRULE_SHORT);
	assert_int_equal(gs_core_overruled(world.core, &c->key), 0);
	touch_all();
	assert_int_equal(world.overruled[GS_OVERRULE_SHORT], 2); /* reported once for each */
	assert_int_equal(world.wishes, 3);
	/* b is suspended, so a may have the short slice */
	want(b, GPUSCHED_RUNNABLE, 0);
	touch(b);
	pass(100 * NS_PER_MS);
	assert_int_equal(world.hw[0].timeslice_us, 20);
	assert_int_equal(short_slices(), 2);
	/* a ends, so b may have it */
	b->task.want.valid = 0;
	want(b, GPUSCHED_TIMESLICE, 20);
	touch(b);
	pass(100 * NS_PER_MS);
	assert_int_equal(short_slices(), 1);
	gs_core_forget(world.core, &a->key);
	pass(100 * NS_PER_MS);
	assert_int_equal(world.hw[1].timeslice_us, 20);
}

/* Each GPU has the switch cost that its log shows; a configured cost replaces those of all GPUs. */
static void test_switch_cost_by_gpu(void **state)
{
	struct gpusched_tsg *t[] = { new_tsg(1, 0), new_tsg(2, 0), new_tsg(3, 1), new_tsg(4, 1) };

	assert_int_equal(gs_core_switch_cost_us(world.core, 0), 200);
	assert_true(gs_core_costs(world.core, 0, 580));
	assert_false(gs_core_costs(world.core, 0, 580));
	/* a change that is smaller than a step is ignored */
	assert_false(gs_core_costs(world.core, 0, 590));
	for (size_t i = 0; i < 4; i++)
		want(t[i], GPUSCHED_TIMESLICE, 500);
	touch_all();
	settle();
	assert_int_equal(short_slices(), 0);
	assert_int_equal(world.hw[1].timeslice_us, 4 * 580);
	/* the cost of GPU 1 is unknown, so the default of 200 us applies */
	assert_int_equal(world.hw[2].timeslice_us, 500);
	assert_int_equal(world.hw[3].timeslice_us, 500);
	gs_core_limits(world.core, 300, 0);
	assert_int_equal(gs_core_switch_cost_us(world.core, 0), 300);
	gs_core_limits(world.core, 0, 0);
	assert_int_equal(gs_core_switch_cost_us(world.core, 0), 580);
	gs_core_costs(world.core, 0, 0);
	touch_all();
	settle();
	assert_int_equal(world.hw[1].timeslice_us, 500);
}

/* Sets a person's slice. Returns false if it is refused. */
static bool set_slice_by(struct gpusched_tsg *t, uint32_t us, bool user)
{
	const struct gs_news news = { .anew = GPUSCHED_TIMESLICE, .user = user };
	const uint32_t users = GPUSCHED_TIMESLICE << GPUSCHED_TSG_USERS_SHIFT;

	if (gs_core_rival(world.core, t, us, user))
		return false;
	gs_field_put(&t->manual, GPUSCHED_TIMESLICE, us);
	t->flags = user ? t->flags | users : t->flags & ~users;
	tell(t, &news);
	return true;
}

static bool set_slice(struct gpusched_tsg *t, uint32_t us)
{
	return set_slice_by(t, us, false);
}

static void test_second_short_slice_of_a_person_is_refused(void **state)
{
	struct gpusched_tsg *a = new_tsg(1, 0), *b = new_tsg(2, 0);

	assert_true(set_slice(a, 20));
	settle();
	assert_int_equal(gs_core_rival(world.core, b, 20, false), a->task.id);
	assert_true(set_slice(b, 200));
	/* a person's short slice comes before a policy's */
	gs_field_unset(&b->manual, GPUSCHED_TIMESLICE);
	want(b, GPUSCHED_TIMESLICE, 30);
	touch(b);
	settle();
	assert_int_equal(world.hw[0].timeslice_us, 20);
	assert_int_equal(world.hw[1].timeslice_us, 800);
}

static void test_unknown_engines_are_not_one_runlist(void **state)
{
	for (uint32_t i = 1; i <= 3; i++) {
		struct gpusched_tsg *t = new_tsg(i, 0);

		t->task.kind = GPUSCHED_KIND_COPY;
		t->task.engine = 0;
		assert_true(set_slice(t, 20));
	}
	settle();
	assert_int_equal(short_slices(), 3);
}

static void test_starving_tsg_gets_a_longer_slice(void **state)
{
	struct gpusched_tsg *t = new_tsg(1, 0);

	t->task.known = GPUSCHED_KNOWN_LAUNCHES | GPUSCHED_KNOWN_GPU_TIME;
	t->task.last_launch_ns = world.now;
	t->task.launches = 5;
	want(t, GPUSCHED_TIMESLICE, 20);
	touch(t);
	pass(99 * NS_PER_MS);
	assert_int_equal(world.hw[0].timeslice_us, 20);
	t->task.gpu_time_ns += NS_PER_MS; /* may be a restore, so it is no progress */
	pass(52 * NS_PER_MS);
	assert_int_equal(world.hw[0].timeslice_us, 800);
	assert_int_equal(counter(GS_ENG_STARVED), 1);
	assert_int_equal(gs_core_overruled(world.core, &t->key), 1u << GS_OVERRULE_STARVED);
	for (int i = 0; i < 20; i++) {
		t->task.launches++;
		pass(10 * NS_PER_MS);
	}
	assert_int_equal(world.hw[0].timeslice_us, 20);
}

static void test_greedy_pre_switches_lose_the_long_slice(void **state)
{
	const struct gs_news greedy = { .greedy = true };
	struct gpusched_tsg *t = new_tsg(1, 0), *other = new_tsg(2, 0);

	want(t, GPUSCHED_TIMESLICE, 1000000);
	want(other, GPUSCHED_TIMESLICE, 1000000);
	touch_all();
	settle();
	assert_int_equal(world.hw[0].timeslice_us, 1000000);
	tell(t, &greedy);
	settle();
	assert_int_equal(world.hw[0].timeslice_us, gs_fields_asked(t).timeslice_us);
	assert_int_equal(world.hw[1].timeslice_us, 1000000);
	assert_int_equal(gs_core_overruled(world.core, &t->key), 1u << GS_OVERRULE_HELD_TOO_LONG);
	/* reported once while it goes on */
	for (int i = 0; i < 5; i++) {
		pass(NS_PER_S);
		tell(t, &greedy);
	}
	pass(2900 * NS_PER_MS);
	assert_int_equal(world.hw[0].timeslice_us, gs_fields_asked(t).timeslice_us);
	assert_int_equal(counter(GS_ENG_HELD_TOO_LONG), 1);
	/* three seconds after the last such news, the policy's wish applies again */
	pass(200 * NS_PER_MS);
	assert_int_equal(world.hw[0].timeslice_us, 1000000);
	assert_int_equal(gs_core_overruled(world.core, &t->key), 0);
	/* a slice below the owner's, or a person's, is never too long */
	want(t, GPUSCHED_TIMESLICE, 300);
	tell(t, &greedy);
	settle();
	assert_int_equal(world.hw[0].timeslice_us, 300);
	want(t, GPUSCHED_TIMESLICE, 1000000);
	assert_true(set_slice(t, 500000));
	tell(t, &greedy);
	settle();
	assert_int_equal(world.hw[0].timeslice_us, 500000);
	assert_int_equal(counter(GS_ENG_HELD_TOO_LONG), 1);
}

static void test_policy_cannot_suspend_for_ever(void **state)
{
	struct gpusched_tsg *t = new_tsg(1, 0);

	want(t, GPUSCHED_RUNNABLE, 0);
	touch(t);
	pass(9999 * NS_PER_MS);
	assert_int_equal(world.hw[0].runnable, 0);
	assert_int_equal(t->suspend_by, GPUSCHED_BY_POLICY);
	pass(3 * NS_PER_MS);
	assert_int_equal(world.hw[0].runnable, 1);
	assert_int_equal(counter(GS_ENG_RELEASED_SUSPEND), 1);
	touch_all(); /* the wish still stands, but its time is over */
	settle();
	assert_int_equal(world.hw[0].runnable, 1);
	assert_int_equal(gs_core_overruled(world.core, &t->key), 1u << GS_OVERRULE_SUSPEND_LIMIT);
	assert_int_equal(world.overruled[GS_OVERRULE_SUSPEND_LIMIT], 1);
	want(t, GPUSCHED_RUNNABLE, 1);
	touch(t);
	assert_int_equal(gs_core_overruled(world.core, &t->key), 0);
	assert_int_equal(world.wishes, 2);
	want(t, GPUSCHED_RUNNABLE, 0);
	touch(t);
	settle();
	assert_int_equal(world.hw[0].runnable, 0);
}

/* The engine retries a resume later that it gave up, since the cause may have gone. */
static void test_resume_is_tried_again(void **state)
{
	struct gpusched_tsg *t = new_tsg(1, 0);

	want(t, GPUSCHED_RUNNABLE, 0);
	touch(t);
	settle();
	world.fail_op = GS_RM_RESUME;
	world.fail_err = -ESRCH; /* this error is given up at once */
	world.fail_times = 2;
	want(t, GPUSCHED_RUNNABLE, 1);
	touch(t);
	settle();
	assert_int_equal(calls_of(1, GS_RM_RESUME), 1);
	/* giving up is not reported for a process that is gone */
	assert_int_equal(world.overruled[GS_OVERRULE_GAVE_UP], 0);
	pass(119 * NS_PER_S);
	assert_int_equal(calls_of(1, GS_RM_RESUME), 2);
	assert_int_equal(world.hw[0].runnable, 0);
	pass(2 * NS_PER_S);
	assert_int_equal(world.hw[0].runnable, 1);
}

static void test_new_channel_of_a_suspended_tsg(void **state)
{
	struct gpusched_tsg *t = new_tsg(1, 0);

	want(t, GPUSCHED_RUNNABLE, 0);
	touch(t);
	settle();
	t->nchannels = 3;
	touch(t);
	settle();
	assert_int_equal(calls_of(1, GS_RM_SUSPEND), 2);
	touch(t);
	settle();
	assert_int_equal(calls_of(1, GS_RM_SUSPEND), 2);
}

/* An MPS server is one program; it is suspended in one call or not at all. */
static void test_mps_servers(void **state)
{
	struct gpusched_tsg *t = new_tsg(1, 0);

	t->flags |= GPUSCHED_TSG_MPS;
	t->nchannels = GS_RM_SUSPEND_BATCH + 1;
	want(t, GPUSCHED_TIMESLICE, 500);
	want(t, GPUSCHED_RUNNABLE, 0);
	touch_all();
	settle();
	assert_int_equal(world.hw[0].timeslice_us, 500);
	assert_int_equal(counter(GS_ENG_REFUSED_BATCH), 1);
	assert_int_equal(calls_of(1, GS_RM_SUSPEND), 0);
	t->nchannels = GS_RM_SUSPEND_BATCH;
	touch(t);
	settle();
	assert_int_equal(calls_of(1, GS_RM_SUSPEND), 1);
	/* its clients have channels in other TSGs, too, so the suspended server is resumed */
	t->flags |= GPUSCHED_TSG_SPREAD;
	touch(t);
	settle();
	assert_int_equal(calls_of(1, GS_RM_RESUME), 1);
	assert_int_equal(counter(GS_ENG_REFUSED_BATCH), 2);
}

/*
 * A record turns out to be a second handle of an MPS server's TSG: its changes are restored, and
 * wishes for it no longer count.
 */
static void test_alias_of_an_mps_server(void **state)
{
	struct gpusched_tsg *t = new_tsg(1, 0);

	want(t, GPUSCHED_TIMESLICE, 500);
	want(t, GPUSCHED_RUNNABLE, 0);
	touch(t);
	settle();
	assert_int_equal(world.hw[0].timeslice_us, 500);
	assert_int_equal(world.hw[0].runnable, 0);
	t->flags |= GPUSCHED_TSG_ALIAS;
	touch(t);
	settle();
	assert_int_equal(world.hw[0].timeslice_us, t->task.asked.timeslice_us);
	assert_int_equal(world.hw[0].runnable, 1);
	assert_int_equal(t->changed, 0);
	t->manual = (struct gpusched_settings){ .valid = GPUSCHED_TIMESLICE, .timeslice_us = 700 };
	touch(t);
	settle();
	assert_int_equal(t->changed, 0);
}

/* An MPS server that waits for admission is held as a whole or not at all, too. */
static void test_held_mps_server(void **state)
{
	struct gpusched_tsg *t = new_tsg(1, 0);

	t->flags |= GPUSCHED_TSG_MPS | GPUSCHED_TSG_HELD;
	t->nchannels = GS_RM_SUSPEND_BATCH;
	want(t, GPUSCHED_RUNNABLE, 0);
	touch(t);
	settle();
	assert_int_equal(world.hw[0].runnable, 0);
	assert_int_equal(t->suspend_by, GPUSCHED_BY_ADMISSION);
	t->nchannels = GS_RM_SUSPEND_BATCH + 1;
	touch(t);
	settle();
	assert_int_equal(world.hw[0].runnable, 1);
	assert_int_equal(t->flags & GPUSCHED_TSG_HELD, 0);
	assert_int_equal(counter(GS_ENG_REFUSED_BATCH), 1);
}

/* If the table lacks some channels of a TSG, no call suspends it, and it runs on. */
static void test_partial(void **state)
{
	struct gpusched_tsg *t = new_tsg(1, 0);

	want(t, GPUSCHED_TIMESLICE, 500);
	want(t, GPUSCHED_RUNNABLE, 0);
	touch(t);
	settle();
	assert_int_equal(calls_of(1, GS_RM_SUSPEND), 1);
	t->flags |= GPUSCHED_TSG_PARTIAL;
	touch(t);
	settle();
	assert_int_equal(calls_of(1, GS_RM_RESUME), 1);
	assert_int_equal(t->task.is.runnable, 1);
	assert_int_equal(t->suspend_by, GPUSCHED_BY_NOBODY);
	assert_int_equal(counter(GS_ENG_REFUSED_PARTIAL), 1);
	assert_int_equal(world.hw[0].timeslice_us, 500);
	t->flags |= GPUSCHED_TSG_HELD;
	touch(t);
	settle();
	assert_int_equal(calls_of(1, GS_RM_SUSPEND), 1);
	assert_int_equal(t->flags & GPUSCHED_TSG_HELD, 0);
}

/* The engine makes no calls for a TSG without channels until it has one. */
static void test_empty(void **state)
{
	struct gpusched_tsg *t = new_tsg(1, 0);

	t->flags |= GPUSCHED_TSG_EMPTY;
	want(t, GPUSCHED_TIMESLICE, 500);
	want(t, GPUSCHED_RUNNABLE, 0);
	touch(t);
	settle();
	assert_int_equal(world.nlog, 0);
	t->flags &= ~GPUSCHED_TSG_EMPTY;
	touch(t);
	settle();
	assert_int_equal(calls_of(1, GS_RM_SUSPEND), 1);
	assert_int_equal(world.hw[0].timeslice_us, 500);
}

/* Beside a TSG that cannot be set, the engine sets no slice below the owner's own. */
static void test_beside_unseen(void **state)
{
	struct gpusched_tsg *t = new_tsg(1, 0);
	uint32_t own = t->task.asked.timeslice_us;

	want(t, GPUSCHED_TIMESLICE, 500);
	touch(t);
	settle();
	assert_int_equal(world.hw[0].timeslice_us, 500);
	gs_core_policy(world.core, true, GS_CORE_UNSEEN);
	touch(t);
	settle();
	assert_int_equal(world.hw[0].timeslice_us, own);
	assert_true(gs_core_overruled(world.core, &t->key) & 1u << GS_OVERRULE_UNSEEN);
	want(t, GPUSCHED_TIMESLICE, 2 * own);
	touch(t);
	settle();
	assert_int_equal(world.hw[0].timeslice_us, 2 * own);
	want(t, GPUSCHED_TIMESLICE, 500);
	gs_core_policy(world.core, true, 0);
	touch(t);
	settle();
	assert_int_equal(world.hw[0].timeslice_us, 500);
}

static void test_refused_wishes(void **state)
{
	struct gpusched_tsg *t = new_tsg(1, 0), *old = new_tsg(2, 0);

	want(t, GPUSCHED_TIMESLICE, 200000000);
	old->task.assumed = GPUSCHED_INTERLEAVE | GPUSCHED_PREEMPT_MODE;
	want(old, GPUSCHED_INTERLEAVE, 2);
	want(old, GPUSCHED_TIMESLICE, 500);
	for (int i = 0; i < 3; i++)
		touch_all();
	settle();
	assert_int_equal(world.nlog, 1);
	assert_int_equal(world.hw[1].timeslice_us, 500);
	assert_int_equal(counter(GS_ENG_REFUSED_RANGE), 1);
	assert_int_equal(counter(GS_ENG_REFUSED_ASSUMED), 1);
}

/* A policy with the flag may change assumed settings; the next one without the flag may not. */
static void test_assumed_needs_the_flag(void **state)
{
	struct gpusched_tsg *old = new_tsg(1, 0);

	old->task.assumed = GPUSCHED_INTERLEAVE | GPUSCHED_PREEMPT_MODE;
	want(old, GPUSCHED_INTERLEAVE, 2);
	old->task.asked.preempt_mode = world.hw[0].preempt_mode = GPUSCHED_PREEMPT_WFI;
	want(old, GPUSCHED_PREEMPT_MODE, GPUSCHED_PREEMPT_CILP);
	gs_core_policy(world.core, true, GPUSCHED_F_WORK);
	touch_all();
	settle();
	assert_int_equal(world.nlog, 0);
	assert_int_equal(counter(GS_ENG_REFUSED_ASSUMED), 2);
	gs_core_policy(world.core, true, GPUSCHED_F_ASSUMED);
	touch_all();
	settle();
	assert_int_equal(world.hw[0].interleave, 2);
	assert_int_equal(world.hw[0].preempt_mode, GPUSCHED_PREEMPT_CILP);
	gs_core_policy(world.core, true, 0);
	touch_all();
	settle();
	assert_int_equal(world.hw[0].interleave, 1);
	assert_int_equal(world.hw[0].preempt_mode, GPUSCHED_PREEMPT_WFI);
	assert_int_equal(counter(GS_ENG_REFUSED_ASSUMED), 4);
}

static void test_call_budget(void **state)
{
	struct gpusched_tsg *t = new_tsg(1, 0), *fresh = new_tsg(2, 0);
	uint64_t waits;

	world.call_ns = 4 * NS_PER_MS;
	for (unsigned int i = 0; i < 300; i++) {
		want(t, GPUSCHED_TIMESLICE, 1000 + i);
		touch(t);
		pass(2 * NS_PER_MS);
	}
	assert_true(counter(GS_ENG_OVER_BUDGET) > 0);
	/* the bucket without its reserve, 5 % of 600 ms, and a tolerance of two calls */
	assert_in_range(counter(GS_ENG_CALL_NS), 40 * NS_PER_MS, 63 * NS_PER_MS);
	/* a person's call uses the reserve, while a policy's next call would wait */
	assert_true(set_slice(t, 600));
	pass(10 * NS_PER_MS);
	assert_int_equal(world.hw[0].timeslice_us, 600);
	/* a TSG's first call does not wait for that */
	waits = counter(GS_ENG_OVER_BUDGET);
	want(fresh, GPUSCHED_TIMESLICE, 900);
	touch(fresh);
	pass(10 * NS_PER_MS);
	assert_int_equal(world.hw[1].timeslice_us, 900);
	assert_int_equal(counter(GS_ENG_OVER_BUDGET), waits);
	/* a person's call does not wait either, even if the policy has changes for the same TSG */
	want(t, GPUSCHED_INTERLEAVE, 2);
	assert_true(set_slice(t, 700));
	pass(10 * NS_PER_MS);
	assert_int_equal(world.hw[0].timeslice_us, 700);
	assert_int_equal(counter(GS_ENG_OVER_BUDGET), waits);
	/* users' calls come last */
	assert_true(set_slice_by(fresh, 1000, true));
	pass(10 * NS_PER_MS);
	assert_int_equal(world.hw[1].timeslice_us, 900);
	pass(2 * NS_PER_S);
	assert_int_equal(world.hw[1].timeslice_us, 1000);
}

enum { CROWD = 400 };

/* Makes many TSGs of one user. */
static void crowd(void)
{
	for (uint32_t i = 1; i <= CROWD; i++)
		new_tsg(i, 0)->task.uid = 1000;
}

static uint64_t first_call_after(struct gpusched_tsg *t, uint64_t start, uint64_t most)
{
	want(t, GPUSCHED_TIMESLICE, 900);
	touch(t);
	while (!calls_of(t->key.handle, GS_RM_SET_TIMESLICE) && world.now < start + most)
		pass(NS_PER_MS);
	return world.now - start;
}

/* Calls of a user's request for many TSGs wait one by one, and delay no call for other users. */
static void test_users_requests_come_last(void **state)
{
	const struct gs_news preempt = { .preempt = true, .user = true };
	struct gpusched_tsg *fresh, *old;

	crowd();
	fresh = new_tsg(CROWD + 1, 0);
	old = new_tsg(CROWD + 2, 0);
	want(old, GPUSCHED_TIMESLICE, 700);
	touch(old);
	settle();
	for (uint32_t i = 0; i < CROWD; i++)
		tell(&world.rec[i], &preempt);
	pass(100 * NS_PER_MS);
	assert_in_range(first_call_after(fresh, world.now, NS_PER_S), 0, 20 * NS_PER_MS);
	want(old, GPUSCHED_TIMESLICE, 600);
	touch(old);
	pass(100 * NS_PER_MS);
	assert_int_equal(world.hw[old - world.rec].timeslice_us, 600);
	/* all calls are made, and take at most 5 % of the time plus the bucket */
	settle();
	for (uint32_t i = 1; i <= CROWD; i++)
		assert_int_equal(calls_of(i, GS_RM_PREEMPT), 1);
	assert_true(counter(GS_ENG_CALL_NS) < (world.now - 3600 * NS_PER_S) / 20 + 50 * NS_PER_MS);
}

/*
 * A policy has wishes for many new TSGs of one user. A new TSG of another user still waits for one
 * call at most.
 */
static void test_first_calls_go_round_by_user(void **state)
{
	struct gpusched_tsg *fresh, *old;

	crowd();
	fresh = new_tsg(CROWD + 1, 0);
	old = new_tsg(CROWD + 2, 0);
	want(old, GPUSCHED_TIMESLICE, 700);
	touch(old);
	for (uint32_t i = CROWD - 20; i < CROWD - 10; i++) { /* not new, so their changes wait */
		want(&world.rec[i], GPUSCHED_TIMESLICE, 700);
		touch(&world.rec[i]);
	}
	pass(20 * NS_PER_MS);
	for (uint32_t i = 0; i < CROWD; i++)
		want(&world.rec[i], GPUSCHED_TIMESLICE, 800);
	touch_all();
	pass(300 * NS_PER_MS);
	assert_true(counter(GS_ENG_OVER_BUDGET) > CROWD / 2);
	assert_in_range(first_call_after(fresh, world.now, NS_PER_S), 0, 100 * NS_PER_MS);
	assert_true(counter(GS_ENG_CALLS) < CROWD);
	/* changes for other users do not wait for all of the new ones either */
	want(old, GPUSCHED_TIMESLICE, 600);
	touch(old);
	pass(100 * NS_PER_MS);
	assert_int_equal(world.hw[old - world.rec].timeslice_us, 600);
	settle();
	assert_int_equal(world.hw[CROWD - 1].timeslice_us, 800);
	assert_int_equal(calls_of(1, GS_RM_SET_TIMESLICE), 1);
}

/* A TSG that ends, or loses its wish, while its call waits, delays no other TSG. */
static void test_waiting_ends(void **state)
{
	crowd();
	for (uint32_t i = 0; i < CROWD; i++)
		want(&world.rec[i], GPUSCHED_TIMESLICE, 800);
	touch_all();
	pass(10 * NS_PER_MS);
	for (uint32_t i = 0; i < CROWD; i += 2)
		gs_core_forget(world.core, &world.rec[i].key);
	for (uint32_t i = 1; i < CROWD; i += 2) {
		world.rec[i].task.want.valid = 0;
		touch(&world.rec[i]);
	}
	settle();
	assert_true(world.now < 3601 * NS_PER_S);
}

/*
 * The engine lengthens a short slice that a user's program or a user has set, if a policy wants a
 * short one for another TSG. It does not lengthen root's.
 */
static void test_users_slice_gives_way(void **state)
{
	struct gpusched_tsg *be = new_tsg(1, 0), *user = new_tsg(2, 0), *roots = new_tsg(3, 0);

	user->task.asked.timeslice_us = world.hw[1].timeslice_us = 1;
	touch_all();
	settle();
	assert_int_equal(world.nlog, 0); /* the owner may have its short slice */
	want(be, GPUSCHED_TIMESLICE, 1);
	touch(be);
	settle();
	assert_int_equal(world.hw[0].timeslice_us, 1);
	assert_int_equal(world.hw[1].timeslice_us, 800);
	assert_int_equal(gs_core_overruled(world.core, &user->key), 1u << GS_OVERRULE_SHORT);
	assert_int_equal(user->changed, GPUSCHED_TIMESLICE);
	/*
	 * A user's set is refused while the policy has one; if the policy's comes later, it wins.
	 */
	assert_false(set_slice_by(user, 20, true));
	be->task.want.valid = 0;
	touch(be);
	settle();
	assert_true(set_slice_by(user, 20, true));
	settle();
	assert_int_equal(world.hw[1].timeslice_us, 20);
	want(be, GPUSCHED_TIMESLICE, 1);
	touch(be);
	settle();
	assert_int_equal(world.hw[0].timeslice_us, 1);
	assert_int_equal(world.hw[1].timeslice_us, 800);
	/* root's slice comes before both; only another short slice of root's has it refused */
	assert_true(set_slice(roots, 30));
	settle();
	assert_int_equal(world.hw[2].timeslice_us, 30);
	assert_int_equal(world.hw[0].timeslice_us, 800);
	assert_false(set_slice(be, 20));
	/* the program's own slice comes back when no other TSG has a short one */
	gs_field_unset(&roots->manual, GPUSCHED_TIMESLICE);
	gs_field_unset(&user->manual, GPUSCHED_TIMESLICE);
	be->task.want.valid = 0;
	touch_all();
	pass(11 * NS_PER_S);
	assert_int_equal(world.hw[1].timeslice_us, 1);
	assert_int_equal(user->changed, 0);
}

/* An idle TSG does not take the short slice from one that works. */
static void test_idle_takes_no_short_slice(void **state)
{
	struct gpusched_tsg *busy = new_tsg(2, 0), *idle = new_tsg(1, 0);

	busy->task.known = idle->task.known = GPUSCHED_KNOWN_LAST_RUN;
	for (int i = 0; i < 2; i++) {
		world.rec[i].task.last_run_ns = i ? 0 : world.now;
		want(&world.rec[i], GPUSCHED_TIMESLICE, 1);
	}
	touch_all();
	settle();
	assert_int_equal(world.hw[0].timeslice_us, 1);
	assert_int_equal(world.hw[1].timeslice_us, 800);
	/* the same applies to two slices that root has set */
	assert_true(set_slice(idle, 10));
	assert_true(set_slice(busy, 20));
	settle();
	assert_int_equal(world.hw[0].timeslice_us, 20);
	assert_int_equal(world.hw[1].timeslice_us, 800);
}

/* The gate stops the owner in the call that schedules the TSG, so there is nothing to suspend. */
static void test_held_at_the_gate(void **state)
{
	struct gpusched_tsg *t = new_tsg(1, 0);

	t->flags = GPUSCHED_TSG_HELD | GPUSCHED_TSG_GATED;
	world.stopped[0] = true;
	want(t, GPUSCHED_RUNNABLE, 0);
	touch(t);
	settle();
	assert_int_equal(world.nlog, 0);
	assert_true(world.stopped[0]);
	/* the policy admits it */
	t->flags &= ~GPUSCHED_TSG_HELD;
	t->task.want.valid = 0;
	touch_all();
	settle();
	assert_false(world.stopped[0]);
	assert_int_equal(counter(GS_ENG_CONTINUED), 1);
	assert_int_equal(world.nlog, 0);
	/* the limit admits it */
	t->flags |= GPUSCHED_TSG_HELD;
	world.stopped[0] = true;
	want(t, GPUSCHED_RUNNABLE, 0);
	world.opts.hold_limit_ms = 1500;
	new_core();
	touch(t);
	pass(1499 * NS_PER_MS);
	assert_true(world.stopped[0]);
	pass(NS_PER_MS);
	assert_false(world.stopped[0]);
	assert_int_equal(t->flags & GPUSCHED_TSG_HELD, 0);
	assert_int_equal(counter(GS_ENG_RELEASED_HOLD), 1);
	assert_int_equal(world.nlog, 0);
	/* another thread of the owner schedules the TSG: now it is suspended */
	t->flags |= GPUSCHED_TSG_HELD | GPUSCHED_TSG_SCHEDULED;
	want(t, GPUSCHED_RUNNABLE, 0);
	touch(t);
	settle();
	assert_int_equal(world.hw[0].runnable, 0);
}

static void test_held_until_admitted(void **state)
{
	struct gpusched_tsg *t = new_tsg(1, 0);

	t->task.created_ns = world.now - 601 * NS_PER_S; /* the wait counts, not the age */
	t->flags |= GPUSCHED_TSG_HELD;
	want(t, GPUSCHED_RUNNABLE, 0);
	touch(t);
	settle();
	assert_int_equal(world.hw[0].runnable, 0);
	assert_int_equal(t->suspend_by, GPUSCHED_BY_ADMISSION);
	/* a new engine continues the time of the wait */
	t->suspended_ns = world.now - 601 * NS_PER_S;
	new_core();
	touch(t);
	settle();
	assert_int_equal(world.hw[0].runnable, 1);
	assert_int_equal(t->flags & GPUSCHED_TSG_HELD, 0);
	assert_int_equal(t->task.want.valid & GPUSCHED_RUNNABLE, 0);
	assert_int_equal(counter(GS_ENG_RELEASED_HOLD), 1);
	assert_int_equal(counter(GS_ENG_RELEASED_SUSPEND), 0);
	/* without a policy, no TSG is held */
	t->flags |= GPUSCHED_TSG_HELD;
	gs_core_policy(world.core, false, 0);
	touch(t);
	settle();
	assert_int_equal(world.hw[0].runnable, 1);
}

/* Many TSGs want short slices; once only one is left, it gets its slice. */
static void test_many_short_wishes(void **state)
{
	enum { MANY = 40 };

	for (uint32_t i = 1; i <= MANY; i++)
		want(new_tsg(i, 0), GPUSCHED_TIMESLICE, 20);
	touch_all();
	settle();
	assert_in_range(world.nlog, MANY, MANY + 1);
	assert_int_equal(short_slices(), 0);
	for (uint32_t i = 2; i <= MANY; i++)
		gs_core_forget(world.core, &world.rec[i - 1].key);
	pass(100 * NS_PER_MS);
	assert_int_equal(short_slices(), 1);
	assert_int_equal(world.hw[0].timeslice_us, 20);
}

/*
 * Each of many TSGs on a runlist may wait for longer: if all were released after two seconds, who
 * has many would have the GPU.
 */
static void test_suspensions_of_a_crowd_last_longer(void **state)
{
	const struct gpusched_class usual = { .suspend_limit_ms = GPUSCHED_SUSPEND_LIMIT_MS },
				    own = { .suspend_limit_ms = 500 };
	struct gpusched_tsg *t = new_tsg(1, 0);

	for (uint32_t id = 2; id <= 16; id++)
		touch(new_tsg(id, id > 12));
	gs_core_class(world.core, 0, &usual);
	want(t, GPUSCHED_RUNNABLE, 0);
	touch(t);
	pass(2990 * NS_PER_MS); /* a quarter of a second for each of the twelve on its GPU */
	assert_int_equal(world.hw[0].runnable, 0);
	pass(20 * NS_PER_MS);
	assert_int_equal(world.hw[0].runnable, 1);
	want(t, GPUSCHED_RUNNABLE, 1);
	touch(t);
	gs_core_class(world.core, 0, &own); /* what root has set holds in a crowd, too */
	want(t, GPUSCHED_RUNNABLE, 0);
	touch(t);
	pass(510 * NS_PER_MS);
	assert_int_equal(world.hw[0].runnable, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_switch_cost_rule),
		T(test_switch_cost_by_gpu),
		T(test_second_short_slice_of_a_person_is_refused),
		T(test_unknown_engines_are_not_one_runlist),
		T(test_starving_tsg_gets_a_longer_slice),
		T(test_greedy_pre_switches_lose_the_long_slice),
		T(test_policy_cannot_suspend_for_ever),
		T(test_suspensions_of_a_crowd_last_longer),
		T(test_resume_is_tried_again),
		T(test_new_channel_of_a_suspended_tsg),
		T(test_mps_servers),
		T(test_held_mps_server),
		T(test_alias_of_an_mps_server),
		T(test_partial),
		T(test_empty),
		T(test_beside_unseen),
		T(test_refused_wishes),
		T(test_assumed_needs_the_flag),
		T(test_call_budget),
		T(test_users_requests_come_last),
		T(test_first_calls_go_round_by_user),
		T(test_waiting_ends),
		T(test_users_slice_gives_way),
		T(test_idle_takes_no_short_slice),
		T(test_held_until_admitted),
		T(test_held_at_the_gate),
		T(test_many_short_wishes),
	};

	return cmocka_run_group_tests_name("engine_laws", tests, NULL, NULL);
}
