/* SPDX-License-Identifier: MIT */
/* test_promises.c - check which groups get their request, in which order, and which are refused */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "intake/promises.h"

static struct gs_promises p;

static int begin(void **state)
{
	memset(&p, 0, sizeof(p));
	return 0;
}

static int end(void **state)
{
	gs_promises_free(&p);
	return p.groups || p.tsgs;
}

/* Makes a TSG in a new group; TSG and group have the same number. */
static int ask(uint64_t id, uint32_t pct, uint64_t start_ns)
{
	const struct gs_promise_wish w = {
		.id = id, .group = id, .start_ns = start_ns, .pct = pct
	};

	return gs_promises_put(&p, &w);
}

static const struct gs_promise_group *group(uint64_t id)
{
	struct gs_promise_tsg *t;

	HASH_FIND(hh, p.tsgs, &id, sizeof(id), t);
	assert_non_null(t);
	return t->group;
}

static void the_last_to_come_has_none(void **state)
{
	assert_int_equal(ask(1, 60, 300), 1);
	gs_promises_settle(&p, false);
	assert_int_equal(ask(2, 50, 100), 1); /* of an older process, but asks later */
	gs_promises_settle(&p, false);
	assert_true(group(1)->has);
	assert_false(group(2)->has);
	assert_int_equal(group(2)->over_pct, 110);
	assert_true(group(2)->changed);
	assert_int_equal(ask(3, 40, 400), 1);
	gs_promises_settle(&p, false);
	assert_true(group(3)->has); /* there is room for this one */
}

static void a_restart_goes_by_start(void **state)
{
	ask(1, 60, 300);
	gs_promises_settle(&p, true);
	ask(2, 50, 100);
	gs_promises_settle(&p, true);
	assert_false(group(1)->has);
	assert_int_equal(group(1)->over_pct, 110);
	assert_true(group(2)->has);
	gs_promises_settle(&p, false);
	assert_true(group(2)->has);
}

static void room_is_given_on(void **state)
{
	ask(1, 60, 1);
	ask(2, 50, 2);
	ask(3, 50, 3);
	gs_promises_settle(&p, true);
	assert_false(group(2)->has);
	assert_true(gs_promises_drop(&p, 1));
	assert_false(gs_promises_drop(&p, 1));
	gs_promises_settle(&p, false);
	assert_true(group(2)->has);
	assert_true(group(3)->has);
	assert_int_equal(group(2)->over_pct, 0);
}

static void a_larger_request_takes_nothing_from_others(void **state)
{
	ask(1, 40, 1);
	ask(2, 50, 2);
	gs_promises_settle(&p, false);
	assert_int_equal(ask(1, 60, 1), 1);
	gs_promises_settle(&p, false);
	assert_false(group(1)->has);
	assert_true(group(2)->has);
	assert_int_equal(ask(1, 30, 1), 1);
	gs_promises_settle(&p, false);
	assert_true(group(1)->has);
}

static void a_policys_floor_counts(void **state)
{
	p.reserved_pct = 5;
	ask(1, 96, 1);
	gs_promises_settle(&p, false);
	assert_false(group(1)->has);
	assert_int_equal(group(1)->over_pct, 101);
}

static void each_runlist_has_its_own(void **state)
{
	struct gs_promise_wish w = { .id = 1, .group = 7, .pct = 80, .start_ns = 1 };

	gs_promises_put(&p, &w);
	w.id = 2;
	w.runlist = 256;
	gs_promises_put(&p, &w);
	gs_promises_settle(&p, false);
	assert_true(group(1)->has);
	assert_true(group(2)->has);
	w.id = 3; /* another member of the group, with which it shares the request */
	assert_int_equal(gs_promises_put(&p, &w), 0);
	assert_ptr_equal(group(2), group(3));
	w.runlist = 0;
	assert_int_equal(gs_promises_put(&p, &w), 1); /* it has moved to another group */
	assert_ptr_equal(group(1), group(3));
}

/* Each instance of a divided GPU has 100 % for its programs. */
static void each_partition_has_100_pct(void **state)
{
	struct gpusched_task t = { .gpu = 3 };
	struct gs_promise_wish w = { .pct = 100, .start_ns = 1 };

	for (uint32_t gi = 1; gi <= 2; gi++) {
		t.engine = gpusched_engine_in(GPUSCHED_ENGINE_GR0, gi, 0);
		w.id = w.group = gi;
		w.runlist = gpusched_runlist(&t);
		assert_int_equal(gs_promises_put(&p, &w), 1);
	}
	gs_promises_settle(&p, false);
	assert_true(group(1)->has);
	assert_true(group(2)->has);
	t.engine = gpusched_engine_in(GPUSCHED_ENGINE_GR0, 2, 1); /* a second compute instance */
	w.id = w.group = 3;
	w.runlist = gpusched_runlist(&t);
	gs_promises_put(&p, &w);
	gs_promises_settle(&p, false);
	assert_true(group(3)->has);
	t.engine = gpusched_engine_in(GPUSCHED_ENGINE_GR0, 2, 0);
	w.id = w.group = 4;
	w.pct = 1;
	w.runlist = gpusched_runlist(&t);
	gs_promises_put(&p, &w);
	gs_promises_settle(&p, false);
	assert_false(group(4)->has); /* its instance's requests are past 100 % */
	assert_int_equal(group(4)->over_pct, 101);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_last_to_come_has_none),  TEST(a_restart_goes_by_start),
		TEST(room_is_given_on),           TEST(a_larger_request_takes_nothing_from_others),
		TEST(a_policys_floor_counts),     TEST(each_runlist_has_its_own),
		TEST(each_partition_has_100_pct),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
