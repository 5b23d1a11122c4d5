// SPDX-License-Identifier: MIT
/*
 * test_decide.c - check what decide.h does with a callback's wishes if the record changes meanwhile
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "gpusched/abi.h"

static int call_it(const char *name, struct gpusched_task *t);
#define GS_CALL(ops, name, task, ...) call_it(#name, task)
#include "policy/decide.h"

#define GENERATION 7

static struct gpusched_tsg rec;
static struct gs_scratch scratch;
static uint64_t becomes; /* the id of another TSG that gets the record during the call; 0: none */

static int taken_over; /* another policy takes the record over during the call */

static int call_it(const char *name, struct gpusched_task *t)
{
	if (!strcmp(name, "task_init"))
		return 0;
	if (becomes) {
		memset(&rec, 0, sizeof(rec));
		rec.task.id = becomes;
	}
	if (taken_over)
		gs_see(&rec, GENERATION + 1);
	t->want.valid |= GPUSCHED_TIMESLICE;
	t->want.timeslice_us = 345;
	t->priv[1] = 1;
	return !strcmp(name, "schedule") ? GPUSCHED_HOLD : 0;
}

static struct gs_decision decide(uint32_t op, uint64_t id)
{
	memset(&rec, 0, sizeof(rec));
	rec.task.id = 1;
	becomes = id;
	return gs_decide(NULL, GENERATION, &rec, &scratch, op, 0, 0);
}

static void same_record(void **state)
{
	assert_true(decide(GPUSCHED_RUN_SCHEDULE, 0).changed);
	assert_int_equal(rec.task.want.valid, GPUSCHED_TIMESLICE | GPUSCHED_RUNNABLE);
	assert_int_equal(rec.task.want.timeslice_us, 345);
	assert_int_equal(rec.task.priv[1], 1);
	assert_true(rec.flags & GPUSCHED_TSG_HELD);
}

static void another_record(void **state)
{
	static const uint32_t ops[] = { GPUSCHED_RUN_SCHEDULE, GPUSCHED_RUN_TICK };

	for (unsigned int i = 0; i < 2; i++) {
		struct gpusched_tsg fresh = { .task.id = 2 };

		assert_false(decide(ops[i], 2).changed);
		assert_memory_equal(&rec, &fresh, sizeof(rec));
	}
}

static void another_policy(void **state)
{
	taken_over = 1;
	assert_false(decide(GPUSCHED_RUN_SCHEDULE, 0).changed);
	taken_over = 0;
	assert_int_equal(rec.task.want.valid, 0);
	assert_int_equal(rec.task.priv[1], 0);
	assert_false(rec.flags & GPUSCHED_TSG_HELD);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(same_record),
		cmocka_unit_test(another_record),
		cmocka_unit_test(another_policy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
