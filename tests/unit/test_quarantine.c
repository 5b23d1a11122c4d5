/* SPDX-License-Identifier: MIT */
/* test_quarantine.c - check what follows from the driver's reports of errors */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/share.h"
#include "basic/user_limits.h"
#include "control/quarantine.h"

#define HOUR (3600 * NS_PER_S)

static struct gs_quarantines q;
static struct gs_harm_verdict v;
static uint64_t now;

static int setup(void **state)
{
	memset(&q, 0, sizeof(q));
	now = HOUR;
	return 0;
}

static struct gs_program_id program(uid_t uid, const char *exe)
{
	struct gs_program_id id;

	memset(&id, 0, sizeof(id));
	id.uid = uid;
	snprintf(id.exe, sizeof(id.exe), "%s", exe);
	return id;
}

static void report(uint32_t xid, uid_t uid, const char *exe, bool touched)
{
	struct gs_program_id id = program(uid, exe);
	const struct gs_harm_report r = { .xid = xid, .touched = touched, .program = &id };

	gs_quarantine_judge(&q, &r, now, &v);
}

static bool inside(uid_t uid, const char *exe)
{
	struct gs_program_id id = program(uid, exe);

	return gs_quarantine_of(&q, &id, now) != NULL;
}

static void a_switch_that_failed_puts_it_in_quarantine(void **state)
{
	static const uint32_t xids[] = { 8, 109, 151 };

	for (size_t i = 0; i < GS_COUNT(xids); i++) {
		setup(NULL);
		report(xids[i], 1000, "/a", true);
		assert_non_null(v.quarantine);
		assert_false(v.ends_policy);
		assert_true(inside(1000, "/a") && gs_quarantine_any(&q, now));
		assert_false(inside(1001, "/a") || inside(1000, "/b"));
		now += HOUR - 1;
		assert_true(inside(1000, "/a"));
		now++;
		assert_false(inside(1000, "/a") || gs_quarantine_any(&q, now));
	}
}

static void no_program_that_was_left_alone_goes_there(void **state)
{
	report(109, 1000, "/a", false);
	assert_null(v.quarantine);
	report(109, 1001, "/a", false);
	assert_false(v.ends_policy);
	assert_false(gs_quarantine_any(&q, now));
}

static void no_mistake_of_programs_is_a_switch_for_users(void **state)
{
	static const uint32_t own[] = { 13, 31, 43, 45, 32, 68, 94 };

	for (size_t i = 0; i < GS_COUNT(own); i++) {
		report(own[i], 1000, "/a", true);
		assert_null(v.quarantine);
		assert_false(v.ends_policy);
		report(own[i], 1001, "/b", true);
		assert_false(v.ends_policy || v.quarantine);
	}
	/* one user alone, with any number of programs */
	for (unsigned int i = 0; i < 100; i++) {
		char exe[16];

		snprintf(exe, sizeof(exe), "/%u", i);
		report(109, 1000, exe, true);
		assert_false(v.ends_policy);
		assert_true(v.quarantine && inside(1000, exe));
	}
	assert_int_equal(q.n, GS_USER_MAY_QUARANTINE);
	report(109, 1000, "/99", true); /* further lines of the same fault */
	assert_null(v.quarantine);
}

static void each_time_lasts_twice_as_long(void **state)
{
	static const unsigned int hours[] = { 1, 2, 4, 8, 16, 32, 64, 128, 168, 168 };

	for (size_t i = 0; i < GS_COUNT(hours); i++) {
		report(109, 1000, "/a", true);
		assert_int_equal(v.quarantine->times, i + 1);
		assert_true(v.quarantine->until_ns == now + hours[i] * HOUR);
		now = v.quarantine->until_ns + HOUR;
		assert_false(inside(1000, "/a"));
	}
	now += 25 * HOUR;
	report(109, 1000, "/a", true);
	assert_int_equal(v.quarantine->times, 1);
}

static unsigned int count_of(uid_t uid)
{
	unsigned int n = 0;

	for (size_t i = 0; i < q.n; i++)
		n += q.all[i].program.uid == uid;
	return n;
}

static void users_keep_places_from_each_other(void **state)
{
	for (unsigned int u = 0; u <= 20; u++)
		for (unsigned int i = 0; i < GS_USER_MAY_QUARANTINE; i++) {
			char exe[16];

			snprintf(exe, sizeof(exe), "/%u", i);
			now++;
			report(8, u ? 1000 + u : 0, exe, true);
			assert_true(!v.left && inside(u ? 1000 + u : 0, exe));
		}
	for (unsigned int u = 1; u <= 20; u++)
		assert_true(count_of(1000 + u) >= 8);
	assert_true(count_of(0) >= GS_QUARANTINE_MAX / GS_SHARE_OF_ROOT);
	assert_int_equal(q.n, GS_QUARANTINE_MAX - GS_QUARANTINE_MAX / GS_SHARE_OF_ROOT);
	report(8, 0, "/root", true); /* still a place for root */
	assert_true(inside(0, "/root"));
	report(8, 3000, "/late", true);
	assert_true(inside(3000, "/late"));
}

static void two_users_within_ten_minutes_end_the_policy(void **state)
{
	report(109, 1000, "/a", true);
	now += 599 * NS_PER_S;
	report(109, 1001, "/b", true);
	assert_true(v.ends_policy && v.quarantine);
	assert_non_null(strstr(v.why, "two users"));
	now += 601 * NS_PER_S;
	report(109, 1002, "/c", true);
	assert_false(v.ends_policy);
	report(8, 1003, "/d", true); /* only 109 counts */
	assert_false(v.ends_policy);
}

static void firmware_that_does_not_answer_ends_it(void **state)
{
	const struct gs_harm_report r = { .xid = 119, .gpu = 3 },
				    lost = { .gpu = -1, .reset = true };

	for (unsigned int i = 1; i <= 3; i++) {
		gs_quarantine_judge(&q, &r, now, &v);
		assert_true(v.ends_policy);
		assert_int_equal(v.rpcs, i);
	}
	gs_quarantine_answered(&q, 3);
	gs_quarantine_judge(&q, &r, now, &v);
	assert_int_equal(v.rpcs, 1);
	gs_quarantine_judge(&q, &lost, now, &v);
	assert_true(v.ends_policy);
	assert_non_null(strstr(v.why, "reset"));
	assert_null(strstr(v.why, "GPU -1"));
}

#define T(fn) cmocka_unit_test_setup(fn, setup)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_switch_that_failed_puts_it_in_quarantine),
		T(no_program_that_was_left_alone_goes_there),
		T(no_mistake_of_programs_is_a_switch_for_users),
		T(each_time_lasts_twice_as_long),
		T(users_keep_places_from_each_other),
		T(two_users_within_ten_minutes_end_the_policy),
		T(firmware_that_does_not_answer_ends_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
