// SPDX-License-Identifier: MIT
/* test_slices.c - check the daemon loop's work in slices: order, and length of a round */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "basic/clock.h"
#include "basic/slices.h"

struct thing {
	struct gs_sliced w;
	char name;
	unsigned int slices; /* the number of slices that it needs */
	bool slow;           /* each slice takes all of its time */
};

static struct gs_slices all;
static char order[64];

static void work(struct gs_sliced *w, uint64_t until_ns)
{
	struct thing *t = (struct thing *)w;

	assert_false(w->queued);
	if (strlen(order) < sizeof(order) - 1)
		order[strlen(order)] = t->name;
	while (t->slow && gs_now_ns() < until_ns)
		;
	if (--t->slices)
		gs_slices_again(&all, w);
}

static struct thing thing(char name, int64_t uid, unsigned int slices)
{
	return (struct thing){ { .work = work, .uid = uid }, .name = name, .slices = slices };
}

static int begin(void **state)
{
	(void)state;
	memset(order, 0, sizeof(order));
	all = (struct gs_slices){ 0 };
	return 0;
}

static void test_turns(void **state)
{
	struct thing a = thing('a', 7, 3), b = thing('b', 7, 2), c = thing('c', 0, 2),
		     d = thing('d', GS_SLICES_OURS, 1);

	(void)state;
	gs_slices_add(&all, &a.w);
	gs_slices_add(&all, &b.w);
	gs_slices_add(&all, &c.w);
	gs_slices_add(&all, &d.w);
	gs_slices_add(&all, &a.w); /* the work is in the list already */
	while (gs_slices_run(&all))
		;
	/* a goes first, since 7 is above the 0 that others begin with */
	assert_string_equal(order, "adcacabb");
}

static void test_dropped(void **state)
{
	struct thing a = thing('a', 1, 1), b = thing('b', 2, 1);

	(void)state;
	gs_slices_add(&all, &a.w);
	gs_slices_add(&all, &b.w);
	gs_slices_drop(&all, &a.w);
	gs_slices_drop(&all, &a.w);
	assert_false(gs_slices_run(&all));
	assert_string_equal(order, "b");
}

/* Work that never ends delays neither the loop nor other work. */
static void test_endless(void **state)
{
	struct thing a = thing('a', 1, 1u << 30), b = thing('b', 2, 3);

	(void)state;
	a.slow = true;
	gs_slices_add(&all, &a.w);
	gs_slices_add(&all, &b.w);
	for (int i = 0; i < 10 && b.slices; i++)
		assert_true(gs_slices_run(&all));
	assert_int_equal(b.slices, 0);
	memset(order, 0, sizeof(order));
	assert_true(gs_slices_run(&all));
	assert_true(strlen(order) <= 6); /* slices of 2 ms in a round of 10 ms */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_turns, begin),
		cmocka_unit_test_setup(test_dropped, begin),
		cmocka_unit_test_setup(test_endless, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
