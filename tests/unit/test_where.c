// SPDX-License-Identifier: MIT
/* test_where.c - check how the TSGs in which a process's requests work are found */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "account/account.h"
#include "basic/clock.h"
#include "control/where_works.h"

/* Stand-in for the account: sums[n] are the sums of TSG n. */
static struct gs_turn_sums sums[4];
static bool has_turns[4], log_open;

int gs_account_of(const struct gs_account *a, uint64_t id, struct gs_turn_sums *ret)
{
	*ret = sums[id];
	return has_turns[id] ? 0 : -ENOENT;
}

void gs_account_gpu(const struct gs_account *a, uint32_t gpu, struct gs_account_gpu *ret)
{
	*ret = (struct gs_account_gpu){ .open = log_open };
}

static const struct gs_account *const account = (const struct gs_account *)sums;
static struct gs_where w;
static uint64_t now;

static int setup(void **state)
{
	memset(sums, 0, sizeof(sums));
	memset(has_turns, 0, sizeof(has_turns));
	log_open = true;
	w = (struct gs_where){ 0 };
	now = 100 * NS_PER_S;
	return 0;
}

static void add(uint64_t id)
{
	struct gpusched_tsg rec = { 0 };

	rec.task.id = id;
	rec.key.handle = (uint32_t)id;
	rec.task.gpu = (uint32_t)id;
	gs_where_add(&w, &rec);
}

/* Makes @n requests, 5 a second, each with a turn of TSG @id; with @id 0, without a turn. */
static void requests(unsigned int n, uint64_t id)
{
	while (n--) {
		gs_where_request(&w, account, now);
		now += NS_PER_S / 5;
		if (!id)
			continue;
		has_turns[id] = true;
		sums[id].start_ns = now;
	}
}

static void test_the_one_that_works(void **state)
{
	add(1);
	add(2);
	has_turns[2] = true; /* it had turns long ago */
	sums[2].start_ns = NS_PER_S;
	requests(2, 1);
	assert_true(gs_where_works(&w, &w.tsgs[0]));
	assert_true(gs_where_works(&w, &w.tsgs[1]));
	requests(10, 1);
	assert_true(gs_where_works(&w, &w.tsgs[0]));
	assert_false(gs_where_works(&w, &w.tsgs[1]));
}

/* A TSG that is alone stays loaded without new turns, but the driver's samples show its work. */
static void test_alone_and_working(void **state)
{
	add(1);
	add(2);
	has_turns[1] = true;
	for (unsigned int i = 0; i < 20; i++) {
		requests(1, 2);
		sums[1].worked_ns += NS_PER_MS;
	}
	assert_true(gs_where_works(&w, &w.tsgs[0]));
	sums[1].held_ns += 100 * NS_PER_S; /* loaded without work */
	requests(12, 2);
	assert_false(gs_where_works(&w, &w.tsgs[0]));
}

static void test_it_begins_to_work(void **state)
{
	add(1);
	add(2);
	requests(12, 1);
	assert_false(gs_where_works(&w, &w.tsgs[1]));
	has_turns[2] = true;
	sums[2].start_ns = now;
	gs_where_look(&w, account, now);
	assert_true(gs_where_works(&w, &w.tsgs[1]));
}

/* Requests within less than a second are too few to tell in which TSG they work. */
static void test_not_before_a_second(void **state)
{
	add(1);
	add(2);
	for (unsigned int i = 0; i < 50; i++)
		gs_where_request(&w, account, now + i * NS_PER_MS);
	assert_true(gs_where_works(&w, &w.tsgs[1]));
}

static void test_where_nothing_is_known(void **state)
{
	add(1);
	add(2);
	log_open = false;
	requests(20, 0);
	assert_true(gs_where_works(&w, &w.tsgs[0]));
	assert_true(gs_where_works(&w, &w.tsgs[1]));
	for (unsigned int i = 0; i < 20; i++)
		gs_where_request(&w, NULL, now += NS_PER_S);
	assert_true(gs_where_works(&w, &w.tsgs[1]));
}

static void test_a_sole_tsg(void **state)
{
	add(1);
	requests(20, 0);
	assert_true(gs_where_works(&w, &w.tsgs[0]));
}

static void test_tsgs_come_and_go(void **state)
{
	for (uint64_t i = 0; i < 3 * GS_WHERE_TSGS; i++)
		add(100 + i);
	assert_int_equal(w.n, GS_WHERE_TSGS);
	gs_where_clear(&w);
	add(100);
	assert_int_equal(w.n, GS_WHERE_TSGS);
	assert_true(w.tsgs[0].there);
	assert_false(w.tsgs[1].there);
	add(7);
	assert_int_equal(w.n, GS_WHERE_TSGS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_the_one_that_works, setup),
		cmocka_unit_test_setup(test_alone_and_working, setup),
		cmocka_unit_test_setup(test_it_begins_to_work, setup),
		cmocka_unit_test_setup(test_not_before_a_second, setup),
		cmocka_unit_test_setup(test_where_nothing_is_known, setup),
		cmocka_unit_test_setup(test_a_sole_tsg, setup),
		cmocka_unit_test_setup(test_tsgs_come_and_go, setup),
	};

	return cmocka_run_group_tests_name("where", tests, NULL, NULL);
}
