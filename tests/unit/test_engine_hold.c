// SPDX-License-Identifier: MIT
/* test_engine_hold.c - check holds for requests: what they suspend, when they end, their limits */
#include "core_world.h"
#include "engine/core_hold.h"
#include "gpusched/policy_types.h"

static struct gpusched_tsg *new_of(uint32_t n, uint32_t class_id)
{
	struct gpusched_tsg *t = new_tsg(n, 0);

	t->task.class_id = class_id;
	touch(t);
	return t;
}

/* Makes the wish that gpusched_hold() makes. */
static void hold(struct gpusched_tsg *t, uint32_t ms)
{
	struct gpusched_settings *w = &t->task.want;

	if (!(w->valid & GPUSCHED_WANT_HOLD) || t->task.is.hold == GPUSCHED_HOLD_OVER)
		w->hold ^= GPUSCHED_HOLD_FLIP;
	w->hold = (uint8_t)((w->hold & GPUSCHED_HOLD_FLIP) | ms * 1000 / GPUSCHED_HOLD_UNIT_US);
	w->valid |= GPUSCHED_WANT_HOLD;
	touch(t);
}

static void release(struct gpusched_tsg *t)
{
	t->task.want.valid &= ~GPUSCHED_WANT_HOLD;
	touch(t);
}

static bool runs(const struct gpusched_tsg *t)
{
	return world.hw[t - world.rec].runnable;
}

static void test_suspends_be(void **state)
{
	struct gpusched_tsg *lc = new_of(1, GPUSCHED_CLASS_LC), *be = new_of(2, GPUSCHED_CLASS_BE);
	struct gpusched_tsg *other = new_of(3, GPUSCHED_CLASS_NONE), *copy = new_tsg(4, 0);
	struct gpusched_tsg *away = new_tsg(5, 1);

	copy->task.class_id = away->task.class_id = GPUSCHED_CLASS_BE;
	copy->task.kind = GPUSCHED_KIND_COPY;
	touch(copy);
	touch(away);
	assert_int_equal(lc->task.is.hold, GPUSCHED_HOLD_NONE);
	hold(lc, 200);
	pass(NS_PER_MS);
	assert_false(runs(be));
	assert_int_equal(be->suspend_by, GPUSCHED_BY_REQUEST);
	assert_int_equal(be->task.is.hold, GPUSCHED_HOLD_HELD);
	assert_int_equal(lc->task.is.hold, GPUSCHED_HOLD_ON);
	assert_int_equal(gs_core_holder(world.core, be), lc->task.id);
	assert_true(runs(lc) && runs(other) && runs(copy) && runs(away));
	release(lc);
	pass(NS_PER_MS);
	assert_true(runs(be));
	assert_int_equal(be->suspend_by, GPUSCHED_BY_NOBODY);
	assert_int_equal(be->task.is.hold, GPUSCHED_HOLD_NONE);
	assert_int_equal(gs_core_holder(world.core, be), 0);
	assert_int_equal(world.nlog, 2);
	/* a further TSG yields to holds, because the policy says so */
	other->task.want.valid |= GPUSCHED_WANT_YIELD;
	touch(other);
	hold(lc, 200);
	pass(NS_PER_MS);
	assert_false(runs(be) || runs(other));
}

static void test_comers(void **state)
{
	struct gpusched_tsg *lc = new_of(1, GPUSCHED_CLASS_LC), *be;

	hold(lc, 400);
	pass(NS_PER_MS);
	assert_int_equal(lc->task.is.hold, GPUSCHED_HOLD_NOBODY);
	assert_int_equal(counter(GS_ENG_HOLDS), 0);
	be = new_of(2, GPUSCHED_CLASS_BE);
	pass(NS_PER_MS);
	assert_false(runs(be));
	be = new_of(3, GPUSCHED_CLASS_BE);
	pass(NS_PER_MS);
	assert_false(runs(be));
	be->task.class_id = GPUSCHED_CLASS_NONE;
	touch(be);
	pass(NS_PER_MS);
	assert_true(runs(be));
}

static void test_ends_by_time(void **state)
{
	struct gpusched_tsg *lc = new_of(1, GPUSCHED_CLASS_LC), *be = new_of(2, GPUSCHED_CLASS_BE);

	hold(lc, 20);
	pass(15 * NS_PER_MS);
	assert_false(runs(be));
	pass(10 * NS_PER_MS);
	assert_true(runs(be));
	assert_int_equal(lc->task.is.hold, GPUSCHED_HOLD_OVER);
	assert_int_equal(counter(GS_ENG_HOLDS_OVER), 1);
	pass(NS_PER_S);
	assert_true(runs(be)); /* the wish still stands, but the hold's time is over */
	hold(lc, 20);
	pass(NS_PER_MS);
	assert_false(runs(be));
	/* the policy ends without taking its wish back */
	gs_core_policy(world.core, false, 0);
	touch_all();
	pass(NS_PER_MS);
	assert_true(runs(be));
}

/* A longer hold replaces a shorter one; its time counts from the first begin. */
static void test_goes_on(void **state)
{
	struct gpusched_tsg *lc = new_of(1, GPUSCHED_CLASS_LC), *be = new_of(2, GPUSCHED_CLASS_BE);

	hold(lc, 20);
	pass(10 * NS_PER_MS);
	hold(lc, 100);
	pass(80 * NS_PER_MS);
	assert_false(runs(be));
	pass(20 * NS_PER_MS);
	assert_true(runs(be));
	assert_int_equal(counter(GS_ENG_HOLDS), 1);
}

static void test_owner_ends(void **state)
{
	struct gpusched_tsg *lc = new_of(1, GPUSCHED_CLASS_LC), *be = new_of(2, GPUSCHED_CLASS_BE);

	hold(lc, 400);
	pass(5 * NS_PER_MS);
	assert_false(runs(be));
	gs_core_forget(world.core, &lc->key);
	pass(NS_PER_MS);
	assert_true(runs(be));
}

/* A call for the holder that does not return does not make the hold longer. */
static void test_owner_is_stuck(void **state)
{
	struct gpusched_tsg *lc = new_of(1, GPUSCHED_CLASS_LC), *be = new_of(2, GPUSCHED_CLASS_BE);
	const struct gs_news preempt = { .preempt = true };
	struct gs_todo todo;

	hold(lc, 20);
	pass(5 * NS_PER_MS);
	assert_int_equal(gs_core_look(world.core, lc, &preempt, world.now, &todo), 0);
	assert_int_equal(todo.plan.nsteps, 1); /* the planned call is never carried out */
	pass(30 * NS_PER_MS);
	assert_true(runs(be));
}

/*
 * Holds for @ms with rests of @rest_ms, again and again. Returns the percentage of 20 s in which be
 * ran.
 */
static unsigned int part_of_be(struct gpusched_tsg *lc, const struct gpusched_tsg *be,
			       unsigned int ms, unsigned int rest_ms, unsigned int *ret_longest_ms)
{
	unsigned int ran = 0, without = 0, until = 0;

	*ret_longest_ms = 0;
	for (unsigned int at = 0; at < 20000; at++) {
		if (at >= until) {
			until = at + ms + rest_ms;
			hold(lc, ms);
		}
		if (rest_ms && at == until - rest_ms)
			release(lc);
		if (!rest_ms && lc->task.is.hold == GPUSCHED_HOLD_OVER)
			hold(lc, ms);
		pass(NS_PER_MS);
		ran += runs(be);
		without = runs(be) ? 0 : without + 1;
		if (without > *ret_longest_ms)
			*ret_longest_ms = without;
	}
	return ran * 100 / 20000;
}

static void test_floor(void **state)
{
	struct gpusched_tsg *lc = new_of(1, GPUSCHED_CLASS_LC), *be = new_of(2, GPUSCHED_CLASS_BE);
	static const unsigned int ways[][2] = { { 500, 0 }, { 100, 0 },  { 100, 1 },
						{ 496, 1 }, { 1000, 0 }, { 20, 1 } };

	for (unsigned int i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		unsigned int longest, part = part_of_be(lc, be, ways[i][0], ways[i][1], &longest);

		assert_in_range(part, 4, 100);
		/* best effort had a second of its guaranteed time in advance */
		assert_in_range(longest, 1, 1510);
		release(lc);
		pass(5 * NS_PER_S);
	}
	assert_in_range(counter(GS_ENG_REFUSED_HOLD_FLOOR), 1, UINT32_MAX);
}

/*
 * Holds until the time that best effort had in advance of its floor is used up. A further hold then
 * has to wait until best effort has run.
 */
static void spend_advance(struct gpusched_tsg *lc, struct gpusched_tsg *be)
{
	for (int i = 0; i < 3; i++) {
		hold(lc, 500);
		pass(NS_PER_MS);
		assert_int_equal(lc->task.is.hold, GPUSCHED_HOLD_ON);
		pass(489 * NS_PER_MS);
		assert_false(runs(be));
		pass(12 * NS_PER_MS);
		assert_true(runs(be));
		assert_int_equal(lc->task.is.hold, GPUSCHED_HOLD_OVER);
	}
	hold(lc, 500);
	pass(NS_PER_MS);
	assert_int_equal(lc->task.is.hold, GPUSCHED_HOLD_FLOOR);
	release(lc);
	pass(30 * NS_PER_MS);
}

static void test_advance(void **state)
{
	struct gpusched_tsg *lc = new_of(1, GPUSCHED_CLASS_LC), *be = new_of(2, GPUSCHED_CLASS_BE);

	spend_advance(lc, be);
	assert_true(runs(be));
	pass(3 * NS_PER_S);
	spend_advance(lc, be);
}

static void test_several_hold(void **state)
{
	struct gpusched_tsg *a = new_of(1, GPUSCHED_CLASS_LC), *b = new_of(2, GPUSCHED_CLASS_LC);
	struct gpusched_tsg *be = new_of(3, GPUSCHED_CLASS_BE);

	spend_advance(a, be);
	hold(a, 400);
	pass(300 * NS_PER_MS);
	hold(b, 400);
	pass(10 * NS_PER_MS);
	release(a);
	pass(10 * NS_PER_MS);
	assert_false(runs(be));
	assert_int_equal(gs_core_holder(world.core, be), b->task.id);
	/* the limit for one hold applies to both holds together */
	pass(200 * NS_PER_MS);
	assert_true(runs(be));
	assert_int_equal(b->task.is.hold, GPUSCHED_HOLD_OVER);
	/* neither TSG gets another hold before best effort has had its floor */
	hold(a, 400);
	pass(NS_PER_MS);
	assert_int_equal(a->task.is.hold, GPUSCHED_HOLD_FLOOR);
	assert_int_equal(gs_core_overruled(world.core, &a->key), 1u << GS_OVERRULE_HOLD_FLOOR);
	assert_true(runs(be));
	pass(40 * NS_PER_MS);
	assert_int_equal(a->task.is.hold, GPUSCHED_HOLD_ON);
	assert_false(runs(be));
}

static struct gpusched_tsg *part_of(uint32_t n, uint32_t gpu, uint64_t job, uint32_t class_id)
{
	const struct gs_news news = { .job = job };
	struct gpusched_tsg *t = new_tsg(n, gpu);

	t->task.class_id = class_id;
	tell(t, &news);
	return t;
}

/* A part that runs without the others only waits for them, and takes time from other programs. */
static void test_long_holds_pause_a_job(void **state)
{
	struct gpusched_tsg *lc = new_of(1, GPUSCHED_CLASS_LC);
	struct gpusched_tsg *a = part_of(2, 0, 7, GPUSCHED_CLASS_BE);
	struct gpusched_tsg *b = part_of(3, 1, 7, GPUSCHED_CLASS_BE), *other;

	hold(lc, 400);
	pass(200 * NS_PER_MS);
	assert_true(!runs(a) && runs(b)); /* nobody else could use that GPU */
	other = part_of(4, 1, 8, GPUSCHED_CLASS_BE);
	release(lc);
	pass(NS_PER_S);
	assert_true(runs(a) && runs(b));
	hold(lc, 400);
	pass(95 * NS_PER_MS);
	assert_true(!runs(a) && runs(b)); /* a short hold is not worth the calls */
	pass(10 * NS_PER_MS);
	assert_true(!runs(a) && !runs(b) && runs(other));
	assert_int_equal(b->suspend_by, GPUSCHED_BY_REQUEST);
	assert_int_equal(gs_core_holder(world.core, b), lc->task.id);
	release(lc);
	pass(5 * NS_PER_MS);
	assert_true(runs(a) && runs(b));
	assert_int_equal(gs_core_holder(world.core, b), 0);
	pass(NS_PER_S);
	hold(lc, 400);
	pass(200 * NS_PER_MS);
	assert_false(runs(b));
	gs_core_forget(world.core, &lc->key); /* the service ends */
	lc->flags |= GPUSCHED_TSG_GONE;
	pass(5 * NS_PER_MS);
	assert_true(runs(b));
}

/* Holds on two GPUs in turn do not keep a job off the GPU for longer. */
static void test_holds_of_two_gpus_end(void **state)
{
	struct gpusched_tsg *lc[2], *be[2];
	uint64_t off = 0, most = 0;

	for (uint32_t i = 0; i < 2; i++) {
		lc[i] = part_of(1 + i, i, 1 + i, GPUSCHED_CLASS_LC);
		be[i] = part_of(3 + i, i, 7, GPUSCHED_CLASS_BE);
		part_of(5 + i, i, 8, GPUSCHED_CLASS_NONE);
	}
	for (unsigned int ms = 0; ms < 20000; ms += 10) {
		for (unsigned int i = 0; i < 2; i++)
			if (ms % 500 == i * 250)
				hold(lc[i], 400);
		pass(10 * NS_PER_MS);
		off = runs(be[0]) ? 0 : off + 10;
		most = off > most ? off : most;
	}
	assert_in_range(most, 500, 1600);
}

static void test_person_wins(void **state)
{
	struct gpusched_tsg *lc = new_of(1, GPUSCHED_CLASS_LC), *a = new_of(2, GPUSCHED_CLASS_BE);
	struct gpusched_tsg *b = new_of(3, GPUSCHED_CLASS_BE);

	gs_field_put(&a->manual, GPUSCHED_RUNNABLE, 0);
	gs_field_put(&b->manual, GPUSCHED_RUNNABLE, 1);
	touch(a);
	touch(b);
	pass(10 * NS_PER_MS);
	hold(lc, 200);
	pass(10 * NS_PER_MS);
	assert_false(runs(a));
	assert_true(runs(b));
	release(lc);
	pass(10 * NS_PER_MS);
	assert_false(runs(a));
	assert_int_equal(a->suspend_by, GPUSCHED_BY_PERSON);
}

/* A hold stays in force when the policy begins a turn for another TSG. */
static void test_turns_stand_still(void **state)
{
	struct gpusched_tsg *lc = new_of(1, GPUSCHED_CLASS_LC), *a = new_of(2, GPUSCHED_CLASS_BE);

	want(a, GPUSCHED_RUNNABLE, 0);
	touch(a);
	pass(10 * NS_PER_MS);
	hold(lc, 200);
	pass(10 * NS_PER_MS);
	want(a, GPUSCHED_RUNNABLE, 1);
	touch(a);
	pass(10 * NS_PER_MS);
	assert_false(runs(a));
	assert_int_equal(a->suspend_by, GPUSCHED_BY_REQUEST);
	assert_int_equal(world.nlog, 1);
	release(lc);
	pass(10 * NS_PER_MS);
	assert_true(runs(a));
}

static void test_unable(void **state)
{
	struct gpusched_tsg *lc = new_of(1, GPUSCHED_CLASS_LC), *be = new_of(2, GPUSCHED_CLASS_BE);
	struct gpusched_tsg *fine = new_of(3, GPUSCHED_CLASS_BE);

	be->flags |= GPUSCHED_TSG_PARTIAL;
	touch(be);
	hold(lc, 200);
	pass(10 * NS_PER_MS);
	assert_true(runs(be));
	assert_false(runs(fine));
	assert_int_equal(be->task.is.hold, GPUSCHED_HOLD_UNABLE);
	assert_int_equal(counter(GS_ENG_HOLD_UNABLE), 1);
	/* a TSG of class be may not hold either */
	hold(fine, 200);
	pass(10 * NS_PER_MS);
	assert_int_equal(counter(GS_ENG_REFUSED_HOLD_YIELDS), 1);
	assert_int_equal(gs_core_overruled(world.core, &fine->key), 1u << GS_OVERRULE_HOLD_YIELDS);
}

static void test_budget(void **state)
{
	struct gpusched_tsg *lc = new_of(1, GPUSCHED_CLASS_LC), *be = new_of(2, GPUSCHED_CLASS_BE);
	uint64_t begin = world.now, ns;

	world.call_ns = 2 * NS_PER_MS;
	for (unsigned int i = 0; i < 20000; i++) {
		if (i % 4 == 0)
			hold(lc, 100);
		else if (i % 4 == 3)
			release(lc);
		pass(NS_PER_MS);
	}
	ns = counter(GS_ENG_CALL_NS);
	assert_in_range(counter(GS_ENG_REFUSED_HOLD_BUDGET), 1, UINT32_MAX);
	assert_in_range(ns, 1, (world.now - begin) / 20 + 60 * NS_PER_MS);
	/* calls use most of the available budget */
	assert_in_range(ns, (world.now - begin) / 40, UINT64_MAX);
	pass(NS_PER_S);
	assert_true(runs(be));
	/* even a full bucket is too small to suspend so many TSGs */
	for (uint32_t n = 3; n < 60; n++)
		new_of(n, GPUSCHED_CLASS_BE);
	hold(lc, 100);
	pass(NS_PER_S);
	assert_int_equal(lc->task.is.hold, GPUSCHED_HOLD_BUDGET);
	assert_int_equal(gs_core_overruled(world.core, &lc->key), 1u << GS_OVERRULE_HOLD_BUDGET);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_suspends_be),
		T(test_comers),
		T(test_ends_by_time),
		T(test_goes_on),
		T(test_owner_ends),
		T(test_owner_is_stuck),
		T(test_floor),
		T(test_advance),
		T(test_several_hold),
		T(test_long_holds_pause_a_job),
		T(test_holds_of_two_gpus_end),
		T(test_person_wins),
		T(test_turns_stand_still),
		T(test_unable),
		T(test_budget),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
