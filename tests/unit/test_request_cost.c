/* SPDX-License-Identifier: MIT */
/* test_request_cost.c - check whose GPU time a request's time counts as */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "basic/clock.h"
#include "figures/request_cost.h"

#define MS NS_PER_MS

static struct gs_cost_turns *turns;

static int setup(void **state)
{
	turns = calloc(1, sizeof(*turns));
	return turns ? 0 : -1;
}

static int teardown(void **state)
{
	free(turns);
	return 0;
}

static void add(uint32_t pid, uint32_t gpu, uint64_t from_ms, uint64_t to_ms)
{
	const struct gs_cost_turn turn = { from_ms * MS, to_ms * MS, pid, gpu };

	gs_cost_turns_add(turns, &turn);
}

static void split_is(uint64_t from_ms, uint64_t to_ms, uint64_t itself, uint64_t others,
		     uint64_t neither, uint64_t unknown)
{
	struct gs_request_parts p;

	gs_request_split(turns, NULL, 0, 1, 0, from_ms * MS, to_ms * MS, &p);
	assert_int_equal(p.took_ns, (to_ms - from_ms) * MS);
	assert_int_equal(p.itself_ns, itself * MS);
	assert_int_equal(p.others_ns, others * MS);
	assert_int_equal(p.neither_ns, neither * MS);
	assert_int_equal(p.unknown_ns, unknown * MS);
	assert_int_equal(p.itself_ns + p.others_ns + p.neither_ns + p.unknown_ns, p.took_ns);
}

/* The example at the head of request_cost.h. */
static void test_parts(void **state)
{
	add(2, 0, 90, 101);
	add(1, 0, 101, 103);
	add(2, 0, 103, 107);
	add(1, 0, 107, 115);
	split_is(100, 110, 5, 5, 0, 0);
	split_is(101, 103, 2, 0, 0, 0);
	split_is(110, 130, 5, 0, 15, 0);
	split_is(50, 60, 0, 0, 10, 0);
}

static void test_parts_with_gaps_between_turns(void **state)
{
	add(1, 0, 101, 103);
	add(2, 0, 103, 107);
	add(1, 0, 107, 110);
	split_is(100, 110, 5, 4, 1, 0);
}

/* A job on two GPUs: others count on the GPU on which it was loaded longest. */
static void test_parts_on_two_gpus(void **state)
{
	add(2, 0, 100, 110);
	add(1, 1, 102, 106);
	add(3, 1, 106, 107);
	split_is(100, 110, 4, 1, 5, 0);
}

static void test_turn_under_way(void **state)
{
	const struct gs_cost_turn open[] = { { 104 * MS, 500 * MS, 2, 0 } };
	struct gs_request_parts p;

	add(1, 0, 100, 104);
	gs_request_split(turns, open, 1, 1, 0, 100 * MS, 110 * MS, &p);
	assert_int_equal(p.itself_ns, 4 * MS);
	assert_int_equal(p.others_ns, 6 * MS);
	assert_int_equal(p.neither_ns, 0);
}

/* What was before the first turn that is kept is unknown, also once old turns are dropped. */
static void test_unknown_before_the_turns(void **state)
{
	turns->since_ns = 104 * MS;
	add(1, 0, 104, 106);
	split_is(100, 110, 2, 0, 4, 4);
	split_is(90, 100, 0, 0, 0, 10);
	for (uint64_t i = 0; i < GS_COST_TURNS; i++)
		add(1, 0, 200 + i, 201 + i);
	split_is(100, 203, 3, 0, 94, 6);
	add(1, 0, 200 + GS_COST_TURNS, 201 + GS_COST_TURNS);
	split_is(195, 203, 2, 0, 0, 6);
}

static void test_quantiles(void **state)
{
	struct gs_request_cost *c = calloc(1, sizeof(*c)), *other = calloc(1, sizeof(*other));

	assert_int_equal(gs_request_cost_ns(c, 50), 0);
	for (uint64_t ms = 1; ms <= 100; ms++)
		gs_request_cost_add(c, &(struct gs_request_parts){ .took_ns = ms * MS });
	assert_in_range(gs_request_cost_ns(c, 50), 48900 * NS_PER_US, 51200 * NS_PER_US);
	assert_in_range(gs_request_cost_ns(c, 99), 96700 * NS_PER_US, 101300 * NS_PER_US);
	assert_in_range(gs_request_cost_below(c, 20 * MS), 18, 20);
	assert_int_equal(gs_request_cost_below(c, 1000 * MS), 100);
	gs_request_cost_add(other, &(struct gs_request_parts){ .took_ns = 3600 * NS_PER_S });
	gs_request_cost_add(other, &(struct gs_request_parts){ .took_ns = 1 });
	gs_request_cost_join(c, other);
	assert_int_equal(c->n, 102);
	assert_int_equal(gs_request_cost_below(c, 1 * MS), 1);
	assert_true(gs_request_cost_ns(c, 100) > 60 * NS_PER_S);
	free(c);
	free(other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_parts, setup, teardown),
		cmocka_unit_test_setup_teardown(test_parts_with_gaps_between_turns, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_parts_on_two_gpus, setup, teardown),
		cmocka_unit_test_setup_teardown(test_turn_under_way, setup, teardown),
		cmocka_unit_test_setup_teardown(test_unknown_before_the_turns, setup, teardown),
		cmocka_unit_test(test_quantiles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
