// SPDX-License-Identifier: MIT
/* test_ledger_groups.c - check whose sums by cgroup end when there are too many cgroups */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "figures/ledger_priv.h"

static struct gs_hub hub;
static struct gs_ledger ledger;
static struct gs_figures fig = { .hub = &hub, .ledger = &ledger };

/* A TSG of the user in the user's cgroup number @n. */
static void join(struct kept *k, uid_t uid, unsigned int n)
{
	k->who.uid = uid;
	snprintf(k->who.cgroup, sizeof(k->who.cgroup), "/user-%u/%u", uid, n);
	ledger_join(&fig, k);
}

/* Joins @n cgroups, one after the other, and leaves each. */
static void use(uid_t uid, unsigned int n)
{
	struct kept *k = calloc(1, sizeof(*k));

	assert_non_null(k);
	for (unsigned int i = 0; i < n; i++)
		join(k, uid, i);
	ledger_leave(k);
	free(k);
}

static unsigned int has(uid_t uid)
{
	unsigned int n = 0;

	for (const struct group *g = ledger.groups; g; g = g->hh.next)
		n += g->uid == uid && g->key.cgroup[0];
	return n;
}

static int teardown(void **state)
{
	ledger_free_groups(&ledger);
	memset(&ledger, 0, sizeof(ledger));
	memset(&hub, 0, sizeof(hub));
	return 0;
}

static void one_users_scopes_end_that_users_alone(void **state)
{
	use(1000, 10);
	use(1001, 3 * GROUPS_MAX);
	assert_int_equal(has(1000), 10);
	assert_true(has(1001) > GROUPS_MAX / 3 && has(1001) < GROUPS_MAX / 2);
	assert_int_equal(hub.counters[GS_SVC_CGROUPS_LEFT], 0);
}

static void late_users_take_from_who_has_most(void **state)
{
	unsigned int all = 0;

	for (uid_t uid = 1000; uid < 1050; uid++)
		use(uid, GROUPS_MAX);
	for (uid_t uid = 1000; uid < 1050; uid++) {
		all += has(uid);
		assert_true(has(uid) >= 10);
	}
	use(1050, 5);
	assert_int_equal(has(1050), 5);
	use(0, 2 * GROUPS_MAX);
	assert_true(has(0) >= GROUPS_MAX / GS_SHARE_OF_ROOT);
	assert_true(all <= GROUPS_MAX - GROUPS_MAX / GS_SHARE_OF_ROOT);
	assert_true(HASH_COUNT(ledger.groups) <= GROUPS_MAX + 1);
}

static void roots_stay(void **state)
{
	use(0, 60);
	for (uid_t uid = 1000; uid < 1400; uid++)
		use(uid, 20);
	assert_int_equal(has(0), 60);
	assert_true(has(1399) > 0);
}

static void who_has_most_at_work_ends_nobodys(void **state)
{
	struct kept *all = calloc(GROUPS_MAX, sizeof(*all));

	assert_non_null(all);
	use(1000, 10);
	for (unsigned int i = 0; i < GROUPS_MAX; i++)
		join(&all[i], 1001, i);
	assert_int_equal(has(1000), 10);
	assert_true(hub.counters[GS_SVC_CGROUPS_LEFT] > GROUPS_MAX / 2);
	use(1002, 20);
	assert_int_equal(has(1002), 20);
	join(&all[GROUPS_MAX - 1], 0, 1); /* its TSG was left out; now root's */
	assert_int_equal(has(0), 1);
	for (unsigned int i = 0; i < GROUPS_MAX; i++)
		ledger_leave(&all[i]);
	use(1003, GROUPS_MAX);
	assert_true(has(1003) >= 200 && has(1001) >= 200);
	assert_int_equal(has(1000), 10);
	free(all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(one_users_scopes_end_that_users_alone, teardown),
		cmocka_unit_test_teardown(late_users_take_from_who_has_most, teardown),
		cmocka_unit_test_teardown(roots_stay, teardown),
		cmocka_unit_test_teardown(who_has_most_at_work_ends_nobodys, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
