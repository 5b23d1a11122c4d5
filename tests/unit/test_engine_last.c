// SPDX-License-Identifier: MIT
/* test_engine_last.c - check TSGs past a share of the table or a budget, and slices of pods */
#include "core_world.h"
#include "gpusched/policy_types.h"

/*
 * A TSG past its share stays suspended as long as the gate would hold it, beyond its class's limit.
 * Within its share, the class's limit applies.
 */
static void test_past_share_waits_longer(void **state)
{
	struct gpusched_tsg *t = new_tsg(1, 0);

	gs_core_limits(world.core, 0, 60000);
	t->task.known |= GPUSCHED_KNOWN_PAST_SHARE;
	want(t, GPUSCHED_RUNNABLE, 0);
	touch(t);
	pass(59999 * NS_PER_MS);
	assert_int_equal(world.hw[0].runnable, 0);
	pass(3 * NS_PER_MS);
	assert_int_equal(world.hw[0].runnable, 1);
	assert_int_equal(counter(GS_ENG_RELEASED_SUSPEND), 1);
	pass(9990 * NS_PER_MS);
	assert_int_equal(world.hw[0].runnable, 1);
	pass(20 * NS_PER_MS);
	assert_int_equal(world.hw[0].runnable, 0);
	/* within its share again: the class's limit applies */
	t->task.known &= ~GPUSCHED_KNOWN_PAST_SHARE;
	touch(t);
	pass(9900 * NS_PER_MS);
	assert_int_equal(world.hw[0].runnable, 0);
	pass(200 * NS_PER_MS);
	assert_int_equal(world.hw[0].runnable, 1);
	assert_int_equal(counter(GS_ENG_RELEASED_SUSPEND), 2);
	pass(60000 * NS_PER_MS);
	assert_int_equal(world.hw[0].runnable, 1);
	/* it goes past its share while it runs */
	t->task.known |= GPUSCHED_KNOWN_PAST_SHARE;
	touch(t);
	pass(9900 * NS_PER_MS);
	assert_int_equal(world.hw[0].runnable, 1);
	pass(200 * NS_PER_MS);
	assert_int_equal(world.hw[0].runnable, 0);
}

static void test_used_up_time_suspends(void **state)
{
	const struct gs_news spent = { .spent = true }, again = { .unspent = true };
	struct gpusched_tsg *t = new_tsg(1, 0);

	want(t, GPUSCHED_RUNNABLE, 1);
	tell(t, &spent);
	pass(1000 * NS_PER_S); /* no class's limit ends this suspension */
	assert_false(world.hw[0].runnable);
	assert_int_equal(t->suspend_by, GPUSCHED_BY_BUDGET);
	assert_int_equal(counter(GS_ENG_SPENT), 1);
	/* the user's own resume does not end it, root's does */
	gs_field_put(&t->manual, GPUSCHED_RUNNABLE, 1);
	t->flags |= GPUSCHED_RUNNABLE << GPUSCHED_TSG_USERS_SHIFT;
	touch(t);
	settle();
	assert_false(world.hw[0].runnable);
	t->flags &= ~GPUSCHED_TSG_USERS;
	touch(t);
	settle();
	assert_true(world.hw[0].runnable);
	gs_field_unset(&t->manual, GPUSCHED_RUNNABLE);
	tell(t, &again);
	settle();
	assert_true(world.hw[0].runnable);
	/* a TSG that cannot be suspended as a whole runs on, and the engine reports that */
	t->flags |= GPUSCHED_TSG_PARTIAL;
	tell(t, &spent);
	settle();
	assert_true(world.hw[0].runnable);
	assert_int_equal(gs_core_overruled(world.core, &t->key), 1u << GS_OVERRULE_SPENT_UNABLE);
}

/* A pod's slice comes after a person's and a policy's, and before the owner's. */
static void test_slice_of_a_pod(void **state)
{
	struct gpusched_tsg *t = new_tsg(1, 0), *other = new_tsg(2, 0);
	struct gs_news news = { .given = true, .slice_us = 1000 };
	const uint32_t asked = world.hw[0].timeslice_us;

	gs_core_policy(world.core, false, 0);
	tell(t, &news);
	settle();
	assert_int_equal(world.hw[0].timeslice_us, 1000);
	assert_int_equal(t->changed, GPUSCHED_TIMESLICE);
	touch(t); /* news without a slice do not change it */
	settle();
	assert_int_equal(world.hw[0].timeslice_us, 1000);
	gs_core_policy(world.core, true, 0);
	want(t, GPUSCHED_TIMESLICE, 700);
	touch_all();
	settle();
	assert_int_equal(world.hw[0].timeslice_us, 700);
	gs_field_put(&t->manual, GPUSCHED_TIMESLICE, 3000);
	touch(t);
	settle();
	assert_int_equal(world.hw[0].timeslice_us, 3000);
	gs_field_unset(&t->manual, GPUSCHED_TIMESLICE);
	gs_core_policy(world.core, false, 0);
	touch_all();
	settle();
	assert_int_equal(world.hw[0].timeslice_us, 1000);
	news.slice_us = 0;
	tell(t, &news);
	settle();
	assert_int_equal(world.hw[0].timeslice_us, asked);
	assert_int_equal(t->changed, 0);
	/* the owner's slice is only assumed, so it could not be restored: the pod's is not set */
	other->task.assumed = GPUSCHED_TIMESLICE;
	news.slice_us = 1000;
	tell(other, &news);
	settle();
	assert_int_equal(world.hw[1].timeslice_us, asked);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_past_share_waits_longer),
		T(test_used_up_time_suspends),
		T(test_slice_of_a_pod),
	};

	return cmocka_run_group_tests_name("engine_last", tests, NULL, NULL);
}
