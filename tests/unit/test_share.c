/* SPDX-License-Identifier: MIT */
/* test_share.c - checks that no user takes everything, and that root always has something */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "basic/share.h"

#define MAX 160u

static unsigned int take_all(struct gs_shares *s, uid_t uid, unsigned int max)
{
	unsigned int n = 0;

	while (gs_shares_take(s, uid, max))
		n++;
	return n;
}

static void a_user_has_half_of_what_others_leave(void **state)
{
	struct gs_shares s = { 0 };
	unsigned int left = MAX - MAX / GS_SHARE_OF_ROOT, n;

	for (uid_t uid = 1; left; uid++) {
		n = take_all(&s, uid, MAX);
		assert_int_equal(n, (left + 1) / 2);
		left -= n;
	}
	assert_int_equal(gs_shares_of(&s, 1), 75);
	assert_int_equal(take_all(&s, 4000, MAX), 0);
	assert_int_equal(take_all(&s, 0, MAX), MAX / GS_SHARE_OF_ROOT);
	assert_false(gs_shares_take(&s, 0, MAX));
	gs_shares_done(&s);
}

static void what_is_given_back_can_be_taken(void **state)
{
	struct gs_shares s = { 0 };
	unsigned int n = take_all(&s, 7, MAX);

	gs_shares_give(&s, 8); /* has nothing */
	assert_int_equal(s.all, n);
	for (unsigned int i = 0; i < n; i++)
		gs_shares_give(&s, 7);
	assert_int_equal(s.all, 0);
	assert_null(s.users);
	assert_int_equal(take_all(&s, 8, MAX), n);
	gs_shares_done(&s);
}

static void a_few_leave_one_for_root(void **state)
{
	struct gs_shares s = { 0 };
	unsigned int n = 0;

	for (uid_t uid = 1; uid < 20; uid++)
		n += take_all(&s, uid, 10);
	assert_int_equal(n, 9);
	assert_int_equal(gs_shares_of(&s, 1), 5);
	assert_true(gs_shares_take(&s, 0, 10));
	gs_shares_done(&s);
}

static void root_keeps_its_part(void **state)
{
	assert_false(gs_share_yields(0, MAX / GS_SHARE_OF_ROOT, MAX));
	assert_true(gs_share_yields(0, MAX / GS_SHARE_OF_ROOT + 1, MAX));
	assert_true(gs_share_yields(1, 1, MAX));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_user_has_half_of_what_others_leave),
		cmocka_unit_test(what_is_given_back_can_be_taken),
		cmocka_unit_test(a_few_leave_one_for_root),
		cmocka_unit_test(root_keeps_its_part),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
