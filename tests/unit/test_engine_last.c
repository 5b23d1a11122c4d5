// SPDX-License-Identifier: MIT
/* test_engine_last.c - TSGs that come last: past a share of the table, or with no GPU time left */
#include "core_world.h"
#include "gpusched/policy_types.h"

/* Suspended as long as the gate would hold it; after its class's limit, the wish counts again. */
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
	/* within its quota again: the class's limit holds */
	t->task.known &= ~GPUSCHED_KNOWN_PAST_SHARE;
	touch(t);
	pass(9900 * NS_PER_MS);
	assert_int_equal(world.hw[0].runnable, 0);
	pass(200 * NS_PER_MS);
	assert_int_equal(world.hw[0].runnable, 1);
	assert_int_equal(counter(GS_ENG_RELEASED_SUSPEND), 2);
	pass(60000 * NS_PER_MS);
	assert_int_equal(world.hw[0].runnable, 1);
	/* it gets past its quota while it runs */
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
	pass(1000 * NS_PER_S); /* no class limits it */
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
	/* a TSG that cannot be suspended whole runs on, and that is reported */
	t->flags |= GPUSCHED_TSG_PARTIAL;
	tell(t, &spent);
	settle();
	assert_true(world.hw[0].runnable);
	assert_int_equal(gs_core_overruled(world.core, &t->key), 1u << GS_OVERRULE_SPENT_UNABLE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_past_share_waits_longer),
		T(test_used_up_time_suspends),
	};

	return cmocka_run_group_tests_name("engine_last", tests, NULL, NULL);
}
