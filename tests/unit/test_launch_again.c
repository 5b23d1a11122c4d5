// SPDX-License-Identifier: MIT
/*
 * test_launch_again.c - check the retries of probes
 *
 * Libraries and processes that could not be probed for a temporary reason are tried again, at
 * growing intervals.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "basic/share.h"
#include "basic/user_limits.h"
#include "launch/launch_again.h"

#define S 1000000000ull
#define USER 4711

static void test_reasons(void **state)
{
	static const int pass[] = { EAGAIN, EBUSY, EEXIST, EIO, EMFILE, ENFILE, ENOMEM, ENOSPC };
	static const int last[] = { 0, EACCES, ENOENT, ENOEXEC, ENOTSUP, EPERM, ESRCH };

	(void)state;
	for (size_t i = 0; i < sizeof(pass) / sizeof(pass[0]); i++)
		assert_true(gs_again_passes(-pass[i]));
	for (size_t i = 0; i < sizeof(last) / sizeof(last[0]); i++)
		assert_false(gs_again_passes(-last[i]));
	assert_false(gs_again_passes(1));
}

static void test_rarer_and_rarer(void **state)
{
	static const uint64_t at[] = { 1, 3, 7, 15, 31, 63, 127, 191, 255 };
	struct gs_again_list l = { 0 };

	(void)state;
	assert_int_equal(gs_again_due(&l), UINT64_MAX);
	assert_int_equal(gs_again_next(&l, 1000 * S), 0);
	assert_true(gs_again_add(&l, 7, USER, 0));
	for (size_t i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
		/* a process that is on the list already keeps its time */
		assert_true(gs_again_add(&l, 7, USER, at[i] * S - 1));
		assert_int_equal(gs_again_due(&l), at[i] * S);
		assert_int_equal(gs_again_next(&l, at[i] * S - 1), 0);
		assert_int_equal(gs_again_next(&l, at[i] * S), 7);
	}
	gs_again_drop(&l, 8);
	assert_true(gs_again_has(&l, 7));
	gs_again_drop(&l, 7);
	assert_false(gs_again_has(&l, 7));
	assert_int_equal(gs_again_due(&l), UINT64_MAX);
}

/* Retries take only a limited part of the time, however many there are. */
static void test_bounded_time(void **state)
{
	struct gs_again_list l = { 0 };
	uint64_t now = S, spent = 0;

	(void)state;
	for (pid_t pid = 1; pid <= GS_USER_MAY_AGAIN; pid++)
		assert_true(gs_again_add(&l, pid, USER, 0));
	while (now < 60 * S) {
		if (!gs_again_next(&l, now)) {
			now = gs_again_due(&l);
			continue;
		}
		now += S / 10;
		spent += S / 10;
		gs_again_took(&l, now, S / 10);
	}
	assert_in_range(spent, 1 * S, 3 * S);
}

static void test_shares(void **state)
{
	struct gs_again_list l = { 0 };
	pid_t pid = 1;

	(void)state;
	for (int i = 0; i < GS_USER_MAY_AGAIN; i++)
		assert_true(gs_again_add(&l, pid++, USER, 0));
	assert_false(gs_again_add(&l, pid, USER, 0));
	assert_true(gs_again_add(&l, 1, USER, 0)); /* it is on the list already */
	while (l.n < GS_AGAIN_PROCESSES)
		assert_true(gs_again_add(&l, pid++, 0, 0));
	assert_false(gs_again_add(&l, pid, 0, 0));
	gs_again_drop(&l, 1);
	assert_false(gs_again_add(&l, pid, USER, 0)); /* root has all the others */
	assert_true(gs_again_add(&l, pid, 0, 0));
}

static void test_many_users(void **state)
{
	struct gs_again_list l = { 0 };
	pid_t pid = 1;

	(void)state;
	for (uid_t uid = USER; uid < USER + 9; uid++) {
		size_t n = l.n;

		while (gs_again_add(&l, pid, uid, 0))
			pid++;
		assert_true(l.n > n);
	}
	for (int i = 0; i < GS_AGAIN_PROCESSES / GS_SHARE_OF_ROOT; i++)
		assert_true(gs_again_add(&l, pid++, 0, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reasons),      cmocka_unit_test(test_rarer_and_rarer),
		cmocka_unit_test(test_bounded_time), cmocka_unit_test(test_shares),
		cmocka_unit_test(test_many_users),
	};

	return cmocka_run_group_tests_name("launch_again", tests, NULL, NULL);
}
