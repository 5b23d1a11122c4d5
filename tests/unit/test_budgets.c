// SPDX-License-Identifier: MIT
/* test_budgets.c - check that questions about budgets follow their clock, not a jump of the wall's */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

static int64_t wall_now;

static time_t test_time(time_t *ret)
{
	return (time_t)wall_now;
}

#define time(at) test_time(at)
#include "control/budgets.c"
#undef time

#include "requests/budget.h"
#include "requests/requests.h"

#define DAY 86400
#define NOON (19723ll * DAY + DAY / 2) /* 2024-01-01, UTC */

static struct gs_hub hub = { .opts = { .daemon = true } };
static struct gs_budgets budgets;
static struct gs_control ctl = { .hub = &hub, .budgets = &budgets };

/* A budget of a day, whose clock has been read at noon. */
static int setup(void **state)
{
	struct gs_budget_rules rules = { calloc(1, sizeof(*rules.all)), 1 };
	struct gs_spending none = { 0 };

	setenv("TZ", "UTC", 1);
	tzset();
	assert_int_equal(gs_budget_rule_parse("uid=7 gpu_seconds=10 per=day", GS_NAMING_STRICT,
					      &rules.all[0], NULL),
			 0);
	budgets = (struct gs_budgets){ .ctl = &ctl };
	gs_spending_begin(&budgets.spending, &rules, &none);
	wall_now = NOON;
	assert_int_equal(gs_budgets_now_s(&ctl), NOON);
	return 0;
}

static int teardown(void **state)
{
	gs_spending_done(&budgets.spending);
	return 0;
}

/* A period that lost records stays incomplete until it ends. */
static void test_lost(void **state)
{
	const char *why = NULL;

	budgets.lost_s = NOON - 60;
	assert_false(gs_budgets_is_complete(&ctl, &why));
	wall_now = NOON + 40ll * DAY;
	assert_false(gs_budgets_is_complete(&ctl, &why));
	assert_ptr_equal(why, budgets.why_lost);
	budgets.lost_s = NOON - DAY;
	assert_true(gs_budgets_is_complete(&ctl, &why));
}

/* A budget without use is shown in the same period as the others. */
static void test_unused(void **state)
{
	struct gs_requests rs = { .hub = &hub, .control = &ctl };
	const struct gs_peer peer = { .uid = 7 };
	struct gs_request rq = { .rs = &rs, .peer = &peer, .answer = json_object() };
	const json_t *row;

	wall_now = NOON + 40ll * DAY;
	assert_int_equal(gs_verb_budget(&rq), 0);
	row = json_array_get(json_object_get(rq.answer, "budgets"), 0);
	assert_int_equal(json_integer_value(json_object_get(row, "began_s")), NOON - DAY / 2);
	assert_int_equal(json_integer_value(json_object_get(row, "again_s")), NOON + DAY / 2);
	json_decref(rq.answer);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = { T(test_lost), T(test_unused) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
