// SPDX-License-Identifier: MIT
/* test_harm.c - check which notes of the driver's errors make room for new ones */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "basic/clock.h"
#include "control/harm_priv.h"

static struct gs_harm h;
static uint64_t now;

static int setup(void **state)
{
	memset(&h, 0, sizeof(h));
	now = 10000 * NS_PER_S;
	return 0;
}

/* The driver reports @xid @n times, each of another process of the user. */
static void report(uint32_t xid, uid_t uid, unsigned int n)
{
	static uint32_t pid = 1;

	while (n--)
		harm_note(&h, &(struct gs_harm_told){ .xid = { .number = xid, .pid = pid++ },
						      .ns = now++,
						      .times = 1,
						      .owned = true,
						      .uid = uid });
}

static unsigned int notes(uint32_t xid, uid_t uid)
{
	unsigned int n = 0;

	for (size_t i = 0; i < HARM_TOLD; i++)
		n += h.told[i].times && h.told[i].xid.number == xid && h.told[i].uid == uid;
	return n;
}

static void faults_of_one_user_push_out_no_others(void **state)
{
	report(109, 1000, 3);
	report(31, 1000, 2);
	report(31, 1001, 3 * HARM_TOLD);
	assert_int_equal(notes(109, 1000), 3);
	report(109, 1001, HARM_TOLD);
	assert_int_equal(notes(109, 1000), 3);
	report(109, 1002, 30);
	assert_int_equal(notes(109, 1000), 3);
	assert_true(notes(109, 1002) >= 30);
}

static void root_keeps_some(void **state)
{
	report(109, 0, 4);
	for (uid_t uid = 1000; uid < 1100; uid++)
		report(109, uid, 1);
	assert_int_equal(notes(109, 0), 4);
	assert_int_equal(notes(109, 1099), 1);
}

static void old_ones_go_first(void **state)
{
	report(109, 1000, 10);
	now += 601 * NS_PER_S;
	report(109, 1001, HARM_TOLD);
	assert_int_equal(notes(109, 1000), 0);
	assert_int_equal(notes(109, 1001), HARM_TOLD);
}

static void the_same_is_counted(void **state)
{
	struct gs_harm_told told = { .xid = { .number = 109, .pid = 5 }, .ns = now, .times = 1 };

	assert_int_equal(harm_note(&h, &told)->times, 1);
	assert_int_equal(harm_note(&h, &told)->times, 2);
	told.ns += 61 * NS_PER_S;
	assert_int_equal(harm_note(&h, &told)->times, 1);
}

#define T(fn) cmocka_unit_test_setup(fn, setup)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(faults_of_one_user_push_out_no_others),
		T(root_keeps_some),
		T(old_ones_go_first),
		T(the_same_is_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
