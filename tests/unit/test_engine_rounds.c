// SPDX-License-Identifier: MIT
/* test_engine_rounds.c - check rounds over more TSGs than one iteration of the loop has time for */
#include "engine_setup.h"

#include "engine/core_priv.h"
#include "engine/internal.h"

#define TSGS 20

static unsigned int looks[TSGS + 1]; /* number of looks at each TSG, by its handle (from 1) */

/* Makes each look so slow that one iteration has time for about five. */
static void slow(struct gpusched_tsg *rec, void *user)
{
	looks[rec->key.handle % (TSGS + 1)]++;
	gs_sleep_ns(NS_PER_MS);
}

static void begin(void)
{
	for (uint32_t i = 0; i < TSGS; i++)
		fake_want(fake_tsg(i + 1, 0), GPUSCHED_INTERLEAVE, 2);
	memset(looks, 0, sizeof(looks));
	engine->opts.complete = slow;
}

static unsigned int looked_at(unsigned int times)
{
	unsigned int n = 0;

	for (unsigned int i = 1; i <= TSGS; i++)
		n += looks[i] >= times;
	return n;
}

static void test_a_turn_is_short(void **state)
{
	uint64_t began;

	begin();
	began = gs_now_ns();
	assert_int_equal(gs_engine_touch_all(engine), 0);
	assert_in_range(looked_at(1), 1, TSGS - 1);
	assert_false(gs_engine_idle(engine));
	assert_true(gs_engine_due(engine) <= gs_now_ns());
	assert_true(gs_now_ns() - began < NS_PER_S);
	settle();
	assert_int_equal(looked_at(1), TSGS);
	for (unsigned int i = 0; i < TSGS; i++)
		assert_int_equal(fake.hw[i].interleave, 2);
}

static void test_what_changes_meanwhile_is_seen(void **state)
{
	begin();
	gs_engine_touch_all(engine);
	assert_int_equal(looks[TSGS], 0);
	fake.rec[TSGS - 1].task.want.interleave = 0; /* the look reads the record's new value */
	settle();
	assert_int_equal(fake.hw[TSGS - 1].interleave, 0);
	assert_int_equal(fake_count(TSGS, GS_RM_SET_INTERLEAVE), 1);
}

static void test_a_round_asked_for_meanwhile_follows(void **state)
{
	begin();
	gs_engine_touch_all(engine);
	gs_engine_touch_all(engine);
	gs_engine_touch_all(engine);
	assert_in_range(looked_at(1), 1, TSGS - 1);
	settle();
	assert_int_equal(looked_at(2), TSGS);
	assert_int_equal(looked_at(4), 0);
}

static void test_one_that_ended_unseen_is_forgotten(void **state)
{
	begin();
	gs_engine_touch_all(engine);
	settle();
	assert_int_equal(HASH_COUNT(engine->core->nodes), TSGS);
	fake.n--; /* the record goes without an event */
	gs_engine_touch_all(engine);
	settle();
	assert_int_equal(HASH_COUNT(engine->core->nodes), TSGS - 1);
}

static void test_all_begins_anew_in_turns_too(void **state)
{
	begin();
	gs_engine_touch_all(engine);
	settle();
	fake.cfg.epoch++;
	for (unsigned int i = 0; i < TSGS; i++)
		fake.hw[i].interleave = 0;
	assert_int_equal(gs_engine_begin_anew(engine), 0);
	settle();
	for (unsigned int i = 0; i < TSGS; i++)
		assert_int_equal(fake.hw[i].interleave, 2);
}

/* Otherwise, many TSGs that are due again at once would use up every iteration. */
static void test_those_due_again_come_last(void **state)
{
	struct gpusched_key key;
	bool came[TSGS + 1] = { false };

	begin();
	engine->opts.complete = NULL;
	gs_engine_touch_all(engine);
	settle();
	for (unsigned int turn = 0; turn < TSGS; turn++) {
		struct gs_node *n;

		for (n = engine->core->nodes; n; n = n->hh.next)
			gs_core_set_due(engine->core, n, 1);
		assert_int_equal(gs_core_due(engine->core, 2, &key, 1), 1);
		assert_false(came[key.handle]);
		came[key.handle] = true;
	}
	key = engine->core->nodes->key; /* the next TSG to come up */
	gs_engine_forget(engine, &key);
	assert_int_equal(gs_core_due(engine->core, 2, &key, 1), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_a_turn_is_short),
		T(test_what_changes_meanwhile_is_seen),
		T(test_a_round_asked_for_meanwhile_follows),
		T(test_one_that_ended_unseen_is_forgotten),
		T(test_all_begins_anew_in_turns_too),
		T(test_those_due_again_come_last),
	};

	return cmocka_run_group_tests_name("engine_rounds", tests, NULL, NULL);
}
