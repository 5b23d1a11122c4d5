/* SPDX-License-Identifier: MIT */
/* test_history_merge.c - check which records of a batch are added up before they are written */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "history/priv.h"

#define NOON 1790000040ull /* a whole minute */

static struct item *first, **last;

static void begin(void)
{
	first = NULL;
	last = &first;
}

/* Puts a record at the end: of process @pid in class @class, over the @span_s before @at_s. */
static void put(enum item_kind kind, int32_t pid, const char *class, uint64_t at_s, uint64_t span_s)
{
	struct item *it = calloc(1, sizeof(*it));

	assert_non_null(it);
	it->kind = kind;
	it->at_s = at_s;
	it->at_ms = at_s * 1000;
	it->span_s = span_s;
	it->who.pid = pid;
	strcpy(it->who.class, class);
	it->sums.v[GS_SUM_TURNS] = 10;
	*last = it;
	last = &it->next;
}

/* Merges, and returns how many records are left. */
static size_t merge(void)
{
	size_t n = 0;

	last = items_merge(&first);
	assert_null(*last);
	for (const struct item *it = first; it; it = it->next)
		n++;
	return n;
}

static void end(void)
{
	for (struct item *it = first, *next; it; it = next) {
		next = it->next;
		free(it);
	}
}

static void test_tsgs_of_a_process_are_one_row(void **state)
{
	(void)state;
	begin();
	for (int i = 0; i < 250; i++) {
		put(ITEM_SUMS, 2, "be", NOON + 30, 60);
		put(ITEM_SUMS, 3, "be", NOON + 30, 60);
	}
	assert_int_equal(merge(), 2);
	assert_int_equal(first->sums.v[GS_SUM_TURNS], 2500);
	assert_int_equal(first->next->sums.v[GS_SUM_TURNS], 2500);
	put(ITEM_SUMS, 3, "be", NOON + 40, 5); /* goes to the list's new end */
	assert_int_equal(merge(), 2);
	assert_int_equal(first->next->sums.v[GS_SUM_TURNS], 2510);
	end();
}

static void test_classes_and_minutes_stay_apart(void **state)
{
	(void)state;
	begin();
	put(ITEM_SUMS, 2, "be", NOON + 30, 60);
	put(ITEM_SUMS, 2, "lc", NOON + 30, 60);
	put(ITEM_SUMS, 2, "be", NOON + 90, 60);
	put(ITEM_SUMS, 2, "be", NOON + 91, 60);
	assert_int_equal(merge(), 3);
	assert_int_equal(first->sums.v[GS_SUM_TURNS], 10);
	assert_int_equal(first->next->next->sums.v[GS_SUM_TURNS], 20);
	end();
}

/* A record after a process's end says that it came back. */
static void test_the_order_stays(void **state)
{
	(void)state;
	begin();
	put(ITEM_SUMS, 2, "be", NOON + 30, 60);
	put(ITEM_ENDED, 2, "", NOON + 31, 0);
	put(ITEM_SUMS, 2, "be", NOON + 32, 1);
	assert_int_equal(merge(), 3);
	assert_int_equal(first->next->kind, ITEM_ENDED);
	end();
}

static void test_the_span_covers_both(void **state)
{
	(void)state;
	begin();
	put(ITEM_SUMS, 2, "be", NOON + 30, 10); /* from 20 on */
	put(ITEM_SUMS, 2, "be", NOON + 40, 35); /* from 5 on */
	put(ITEM_SUMS, 2, "be", NOON + 35, 2);
	assert_int_equal(merge(), 1);
	assert_int_equal(first->at_s, NOON + 40);
	assert_int_equal(first->at_ms, (NOON + 40) * 1000);
	assert_int_equal(first->span_s, 35);
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tsgs_of_a_process_are_one_row),
		cmocka_unit_test(test_classes_and_minutes_stay_apart),
		cmocka_unit_test(test_the_order_stays),
		cmocka_unit_test(test_the_span_covers_both),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
