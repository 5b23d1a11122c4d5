// SPDX-License-Identifier: MIT
/*
 * test_saved.c - check the file that keeps people's settings for the next daemon
 *
 * Includes the limit of a user's entries in it.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "basic/clock.h"
#include "basic/share.h"
#include "basic/user_limits.h"
#include "requests/audit.h"
#include "control/follow.h"
#include "control/saved.h"

#define TSG(id) \
	"{\"id\":" #id ",\"start_ns\":5,\"client\":6,\"tsg\":7,\"pid\":8,\"uid\":9,\"valid\":9," \
	"\"timeslice_us\":300,\"interleave\":1,\"preempt_mode\":0,\"runnable\":0,\"until_ns\":70," \
	"\"suspended_by\":1000,\"users\":8,\"reapplied\":false}"
#define GOOD \
	"{\"version\":1,\"boot\":\"b\",\"running\":true,\"crashed_ns\":44,\"launches\":true," \
	"\"policy\":{\"chosen\":true,\"name\":\"lcbe\",\"configured\":\"edf\",\"options\":[" \
	"\"be_us=1\"]},\"tsgs\":[" TSG(3) "," TSG(2) "]}"

static void comes_back_as_it_was(void **state)
{
	struct gs_saved s = { 0 }, again = { 0 };
	const struct gs_saved_tsg *t;
	char *text, *second;

	assert_int_equal(gs_saved_parse(&s, GOOD, "b", NULL), 0);
	assert_true(s.running && s.launches && s.policy.chosen);
	assert_int_equal(s.crashed_ns, 44);
	assert_string_equal(s.policy.name, "lcbe");
	assert_string_equal(s.policy.configured, "edf");
	assert_string_equal(s.policy.options[0], "be_us=1");
	t = gs_saved_find(&s, 3);
	assert_non_null(t);
	assert_true(t->pending);
	assert_int_equal(t->set.valid, GPUSCHED_TIMESLICE | GPUSCHED_RUNNABLE);
	assert_int_equal(t->set.timeslice_us, 300);
	assert_int_equal(t->until_ns, 70);
	assert_int_equal(t->suspended_by, 1000);
	assert_int_equal(t->users, GPUSCHED_RUNNABLE);
	assert_null(gs_saved_find(&s, 4));
	text = gs_saved_text(&s, "b");
	assert_int_equal(gs_saved_parse(&again, text, "b", NULL), 0);
	second = gs_saved_text(&again, "b");
	assert_string_equal(text, second);
	free(text);
	free(second);
	gs_saved_free(&s);
	gs_saved_free(&again);
}

static void nothing_of_another_boot(void **state)
{
	struct gs_saved s = { 0 };

	assert_int_equal(gs_saved_parse(&s, GOOD, "another", NULL), 0);
	assert_int_equal(s.ntsgs, 0);
	assert_false(s.policy.chosen || s.running || s.launches);
	gs_saved_free(&s);
}

static void damaged_is_refused(void **state)
{
	static const char *const bad[] = {
		"",
		"[]",
		"{\"version\":1}",
		"nonsense",
		"{\"version\":2,\"boot\":\"b\",\"running\":true,\"crashed_ns\":0,\"launches\":true,"
		"\"policy\":{\"chosen\":false,\"options\":[]},\"tsgs\":[]}",
		"{\"version\":1,\"boot\":\"b\",\"running\":true,\"crashed_ns\":0,\"launches\":true,"
		"\"policy\":{\"chosen\":false,\"options\":[5]},\"tsgs\":[]}",
		"{\"version\":1,\"boot\":\"b\",\"running\":true,\"crashed_ns\":0,\"launches\":true,"
		"\"policy\":{\"chosen\":false,\"options\":[]},\"tsgs\":[{\"id\":1}]}",
		"{\"version\":1,\"boot\":\"b\",\"running\":true,\"crashed_ns\":0,\"launches\":true,"
		"\"policy\":{\"chosen\":false,\"options\":[]},\"tsgs\":[" TSG(3) "," TSG(3) "]}",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct gs_saved s = { 0 };

		assert_int_equal(gs_saved_parse(&s, bad[i], "b", NULL), -EINVAL);
		gs_saved_free(&s);
	}
}

static void a_second_crash_within_a_minute(void **state)
{
	struct gs_saved s = { 0 };

	assert_false(gs_reapply_crashed_twice(&s, 5 * NS_PER_S));
	s.crashed_ns = 100 * NS_PER_S;
	assert_true(gs_reapply_crashed_twice(&s, 100 * NS_PER_S));
	assert_true(gs_reapply_crashed_twice(&s, 159 * NS_PER_S));
	assert_false(gs_reapply_crashed_twice(&s, 160 * NS_PER_S));
}

static void ten_entries_a_minute_each(void **state)
{
	struct gs_audit a = { 0 };
	uint64_t now = NS_PER_S;

	for (int i = 0; i < 10; i++)
		assert_true(gs_audit_take(&a, 1000, now + (uint64_t)i));
	assert_false(gs_audit_take(&a, 1000, now + 59 * NS_PER_S));
	assert_true(gs_audit_take(&a, 1001, now + 59 * NS_PER_S));
	assert_true(gs_audit_take(&a, 1000, now + 60 * NS_PER_S));
	/* with more users than places, only the oldest user's count is forgotten */
	for (uid_t u = 2000; u < 2000 + GS_AUDIT_USERS - 1; u++)
		assert_true(gs_audit_take(&a, u, now + 61 * NS_PER_S));
	for (int i = 0; i < 9; i++)
		assert_true(gs_audit_take(&a, 1000, now + 62 * NS_PER_S));
	assert_false(gs_audit_take(&a, 1000, now + 62 * NS_PER_S));
}

/* Four users with all that each may have would fill the file. */
static void users_leave_places(void **state)
{
	struct gs_saved s = { .tsgs = calloc(GS_SAVED_TSGS, sizeof(*s.tsgs)) };

	assert_non_null(s.tsgs);
	for (uid_t uid = 1000; uid < 1005; uid++) {
		size_t n = s.ntsgs;

		while (gs_saved_has_room(&s, uid))
			s.tsgs[s.ntsgs++].uid = uid;
		assert_true(s.ntsgs > n && s.ntsgs - n <= GS_USER_MAY_SAVED);
	}
	for (int i = 0; i < GS_SAVED_TSGS / GS_SHARE_OF_ROOT; i++) {
		assert_true(gs_saved_has_room(&s, 0));
		s.tsgs[s.ntsgs++].uid = 0;
	}
	gs_saved_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(comes_back_as_it_was),
		cmocka_unit_test(nothing_of_another_boot),
		cmocka_unit_test(damaged_is_refused),
		cmocka_unit_test(a_second_crash_within_a_minute),
		cmocka_unit_test(ten_entries_a_minute_each),
		cmocka_unit_test(users_leave_places),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("saved", tests, NULL, NULL);
}
