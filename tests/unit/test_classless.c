// SPDX-License-Identifier: MIT
/* test_classless.c - check which programs without a class are found to wait for each other */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "figures/classless.h"

static struct gpusched_tsg record(uint64_t id)
{
	return (struct gpusched_tsg){ .task = { .id = id, .pid = (uint32_t)(100 + id), .gpu = 1 } };
}

static void take(struct gs_classless_facts *c, uint64_t id, double waited_pct)
{
	const struct gs_tsg_rates rates = { .held_pct = 30, .waited_pct = waited_pct };
	const struct gpusched_tsg rec = record(id);

	gs_classless_take(c, &rec, &rates);
}

static void the_one_that_waits_most(void **state)
{
	struct gs_classless_facts c = { 0 };

	take(&c, 1, 40);
	assert_false(c.several);
	take(&c, 2, 41);
	take(&c, 3, 39);
	assert_true(c.several);
	assert_int_equal(c.tsg, 2);
	assert_int_equal(c.pid, 102);
	assert_int_equal(c.gpu, 1);
}

/* Otherwise a finding about equal programs would begin and end all the time. */
static void it_stays_the_one(void **state)
{
	struct gs_classless_facts c = { .last = 1 };

	take(&c, 2, 44);
	take(&c, 1, 40);
	take(&c, 3, 44);
	assert_int_equal(c.tsg, 1);
	take(&c, 4, 46);
	assert_int_equal(c.tsg, 4);
	assert_int_equal(c.last, 1);
}

static void others_do_not_count(void **state)
{
	const struct gs_tsg_rates rates = { .held_pct = 30, .waited_pct = 40 }, none = { 0 };
	struct gs_classless_facts c = { 0 };
	struct gpusched_tsg rec = record(1);

	gs_classless_take(&c, &rec, &none);
	rec.task.class_id = GPUSCHED_CLASS_BE;
	gs_classless_take(&c, &rec, &rates);
	rec = record(2);
	rec.task.want.valid = GPUSCHED_TIMESLICE; /* a policy acts on it */
	gs_classless_take(&c, &rec, &rates);
	rec = record(3);
	rec.flags = GPUSCHED_TSG_MIG;
	gs_classless_take(&c, &rec, &rates);
	assert_int_equal(c.pid, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_one_that_waits_most),
		cmocka_unit_test(it_stays_the_one),
		cmocka_unit_test(others_do_not_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
