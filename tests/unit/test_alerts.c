/* SPDX-License-Identifier: MIT */
/* test_alerts.c - check when alerts begin and end, and how many a user's programs may cause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "basic/user_limits.h"
#include "figures/alerts.h"

static struct gs_alerts alerts;
static uint64_t now;

static const struct gs_alert *see(enum gs_finding_kind kind, uint64_t tsg, uid_t uid, bool *left)
{
	const struct gs_finding f = { .kind = kind, .gpu = 0, .tsg = tsg, .uid = uid };
	bool none;

	return gs_alerts_see(&alerts, &f, now, 1000, left ? left : &none);
}

/* Lets seconds pass, with a look in each. Returns how many findings ended. */
static unsigned int pass(unsigned int seconds)
{
	unsigned int n = 0;

	while (seconds--) {
		struct gs_alert *over;

		now += NS_PER_S;
		while ((over = gs_alerts_take_over(&alerts, now))) {
			free(over);
			n++;
		}
	}
	return n;
}

static int setup(void **state)
{
	now = 100 * NS_PER_S;
	pass(1);
	return 0;
}

static int teardown(void **state)
{
	gs_alerts_done(&alerts);
	return 0;
}

static void it_begins_once_and_ends_once(void **state)
{
	const struct gs_alert *a = see(GS_FINDING_STARVED, 7, 1, NULL);

	assert_non_null(a);
	assert_int_equal(a->id, 1000);
	for (int i = 0; i < 10; i++) {
		assert_int_equal(pass(1), 0);
		assert_null(see(GS_FINDING_STARVED, 7, 1, NULL));
	}
	assert_int_equal(pass(2), 0); /* a pause does not end a finding */
	assert_null(see(GS_FINDING_STARVED, 7, 1, NULL));
	assert_int_equal(pass(2), 0);
	assert_int_equal(pass(2), 1);
	assert_int_equal(pass(10), 0);
	a = see(GS_FINDING_STARVED, 7, 1, NULL);
	assert_non_null(a);
	assert_true(a->id > 1000); /* though the clock was set back */
}

static void kinds_gpus_and_tsgs_are_apart(void **state)
{
	const struct gs_finding lost = { .kind = GS_FINDING_LOST_TIME, .gpu = 1 };
	bool left;

	assert_non_null(see(GS_FINDING_STARVED, 7, 1, NULL));
	assert_non_null(see(GS_FINDING_LC_WAITS, 7, 1, NULL));
	assert_non_null(see(GS_FINDING_STARVED, 8, 1, NULL));
	assert_non_null(see(GS_FINDING_LOST_TIME, 0, 0, NULL));
	assert_non_null(gs_alerts_see(&alerts, &lost, now, 0, &left));
}

static void a_user_has_a_share(void **state)
{
	bool left;

	for (uint64_t i = 1; i <= GS_USER_MAY_ALERTS; i++)
		assert_non_null(see(GS_FINDING_STARVED, i, 1000, NULL));
	assert_null(see(GS_FINDING_STARVED, 99, 1000, &left));
	assert_true(left);
	/* another user's program still gets one */
	assert_non_null(see(GS_FINDING_STARVED, 100, 1001, &left));
	assert_false(left);
	for (uint64_t i = 200; i < 200 + 2 * GS_USER_MAY_ALERTS; i++)
		assert_non_null(see(GS_FINDING_STARVED, i, 0, &left)); /* and so does root's */
	assert_non_null(see(GS_FINDING_LOST_TIME, 0, 0, &left));
	/* findings that begin and end many times a minute still count */
	assert_int_equal(pass(4), GS_USER_MAY_ALERTS + 1 + 2 * GS_USER_MAY_ALERTS + 1);
	assert_null(see(GS_FINDING_STARVED, 1, 1000, &left));
	assert_true(left);
	pass(60);
	assert_non_null(see(GS_FINDING_STARVED, 1, 1000, &left));
}

static void they_count_as_long_as_they_last(void **state)
{
	bool left;

	for (unsigned int s = 0; s < 70; s++) {
		for (uint64_t i = 1; i <= GS_USER_MAY_ALERTS; i++)
			see(GS_FINDING_STARVED, i, 1000, NULL);
		assert_int_equal(pass(1), 0);
	}
	assert_null(see(GS_FINDING_STARVED, 99, 1000, &left));
	assert_true(left);
}

static void all_have_a_limit(void **state)
{
	bool left = false;

	for (uint64_t i = 1; i <= GS_ALERTS_MAX; i++)
		assert_non_null(see(GS_FINDING_STARVED, i, 0, NULL));
	assert_null(see(GS_FINDING_STARVED, GS_ALERTS_MAX + 1, 0, &left));
	assert_true(left);
}

static void no_user_has_all_of_them(void **state)
{
	unsigned int n = 0;
	bool left;

	for (uid_t uid = 1000; uid < 1040; uid++)
		for (uint64_t i = 0; i < GS_USER_MAY_ALERTS; i++)
			n += see(GS_FINDING_STARVED, 1 + uid * 100 + i, uid, &left) != NULL;
	assert_true(n < GS_ALERTS_MAX);
	assert_non_null(see(GS_FINDING_STARVED, 1, 0, &left)); /* root's part is left */
}

static void a_pause_of_who_looks_ends_nothing(void **state)
{
	assert_non_null(see(GS_FINDING_STARVED, 7, 1, NULL));
	now += 30 * NS_PER_S;
	assert_null(gs_alerts_take_over(&alerts, now));
	assert_null(see(GS_FINDING_STARVED, 7, 1, NULL));
	assert_int_equal(pass(4), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(it_begins_once_and_ends_once, setup, teardown),
		cmocka_unit_test_setup_teardown(kinds_gpus_and_tsgs_are_apart, setup, teardown),
		cmocka_unit_test_setup_teardown(a_user_has_a_share, setup, teardown),
		cmocka_unit_test_setup_teardown(they_count_as_long_as_they_last, setup, teardown),
		cmocka_unit_test_setup_teardown(all_have_a_limit, setup, teardown),
		cmocka_unit_test_setup_teardown(no_user_has_all_of_them, setup, teardown),
		cmocka_unit_test_setup_teardown(a_pause_of_who_looks_ends_nothing, setup, teardown),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
