// SPDX-License-Identifier: MIT
/* test_engine_park.c - check which wishes of gpusched_park() the core passes on or refuses */
#include "core_world.h"
#include "gpusched/policy_types.h"

#define PARKED_TOO 1u << GS_OVERRULE_PARK

/* Makes the wish that gpusched_park() makes. */
static void wish(struct gpusched_tsg *t, uint32_t min)
{
	uint32_t n = (t->task.want.valid & GPUSCHED_WANT_PARKS) >> 8;

	t->task.want.valid &= ~(GPUSCHED_WANT_PARKS | GPUSCHED_WANT_PARK_MIN);
	t->task.want.valid |= (n == 3 ? 1 : n + 1) << 8 | min << GPUSCHED_WANT_PARK_SHIFT;
}

static uint32_t told(const struct gpusched_tsg *t)
{
	struct gs_todo todo;

	assert_int_equal(gs_core_look(world.core, t, NULL, world.now, &todo), 0);
	return todo.park_min;
}

/* Replaces the core by one whose user can park programs. */
static void can_park(void)
{
	const struct gs_core_opts opts = { .ngpus = 1, .parks = true };

	gs_core_free(world.core);
	world.core = gs_core_new(&opts);
	gs_core_policy(world.core, true, 0);
}

static void test_a_wish_is_passed_on_once(void **state)
{
	struct gpusched_tsg *t = new_tsg(1, 0);

	can_park();
	assert_int_equal(told(t), 0);
	wish(t, 30);
	assert_int_equal(told(t), 30);
	assert_int_equal(told(t), 0);
	wish(t, 30); /* repeats the wish */
	assert_int_equal(told(t), 30);
	wish(t, GPUSCHED_PARK_MAX_MIN);
	assert_int_equal(told(t), 1023);
	assert_int_equal(counter(GS_ENG_REFUSED_PARK), 0);
	gs_core_policy(world.core, false, 0);
	wish(t, 30);
	assert_int_equal(told(t), 0);
	assert_int_equal(counter(GS_ENG_REFUSED_PARK), 0);
}

static void test_a_user_that_cannot_park_refuses(void **state)
{
	struct gpusched_tsg *t = new_tsg(1, 0);

	wish(t, 30);
	touch(t);
	assert_int_equal(counter(GS_ENG_REFUSED_PARK), 1);
	assert_int_equal(gs_core_overruled(world.core, &t->key), PARKED_TOO);
	assert_int_equal(world.overruled[GS_OVERRULE_PARK], 1);
	touch(t);
	assert_int_equal(counter(GS_ENG_REFUSED_PARK), 1);
	wish(t, 30);
	touch(t);
	assert_int_equal(counter(GS_ENG_REFUSED_PARK), 2);
	/* reported only once, when the refusals begin */
	assert_int_equal(world.overruled[GS_OVERRULE_PARK], 1);
	t->task.want.valid = 0; /* another policy starts */
	touch(t);
	assert_int_equal(gs_core_overruled(world.core, &t->key), 0);
}

static void test_a_refusal_may_come_later(void **state)
{
	const struct gs_news refused = { .park_refused = true };
	struct gpusched_tsg *t = new_tsg(1, 0);

	can_park();
	wish(t, 1);
	assert_int_equal(told(t), 1);
	assert_int_equal(gs_core_overruled(world.core, &t->key), 0);
	tell(t, &refused);
	assert_int_equal(counter(GS_ENG_REFUSED_PARK), 1);
	assert_int_equal(gs_core_overruled(world.core, &t->key), PARKED_TOO);
}

static void test_other_wishes_stay(void **state)
{
	struct gpusched_tsg *t = new_tsg(1, 0);

	can_park();
	t->task.want.valid |= 2u << 6 | GPUSCHED_TIMESLICE; /* 2 << 6: two preemptions */
	t->task.want.timeslice_us = 300;
	wish(t, 30);
	assert_int_equal(told(t), 30);
	assert_int_equal(t->task.want.valid & (GPUSCHED_WANT_PREEMPTS | GPUSCHED_ALL_SETTINGS),
			 2u << 6 | GPUSCHED_TIMESLICE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_a_wish_is_passed_on_once),
		T(test_a_user_that_cannot_park_refuses),
		T(test_a_refusal_may_come_later),
		T(test_other_wishes_stay),
	};

	return cmocka_run_group_tests_name("engine_park", tests, NULL, NULL);
}
