/* SPDX-License-Identifier: MIT */
/* test_spending.c - check budgets of GPU time: rules, periods, accounts, and clocks that jump */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "basic/clock.h"
#include "config/config.h"
#include "figures/spending.h"

#define DAY 86400
#define NOON (19723ll * DAY + DAY / 2) /* Monday, 2024-01-01, UTC */

static struct gs_spending s;

static int utc(void **state)
{
	setenv("TZ", "UTC", 1);
	tzset();
	return 0;
}

static void begin(const char *const *lines, size_t n)
{
	struct gs_budget_rules rules = { calloc(n + 1, sizeof(*rules.all)), n };
	struct gs_spending old = s;

	for (size_t i = 0; i < n; i++)
		assert_int_equal(
			gs_budget_rule_parse(lines[i], GS_NAMING_STRICT, &rules.all[i], NULL), 0);
	gs_spending_begin(&s, &rules, &old);
}

#define BEGIN(...) \
	begin((const char *const[]){ __VA_ARGS__ }, \
	      sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *))

static int done(void **state)
{
	gs_spending_done(&s);
	return 0;
}

static void charge(uid_t uid, const char *cgroup, unsigned int seconds, int64_t now)
{
	gs_spending_charge(&s, uid, cgroup, seconds * NS_PER_S, now);
}

static bool over(uid_t uid, const char *cgroup)
{
	return gs_spending_over(&s, uid, cgroup) != NULL;
}

/* ---- rules ----------------------------------------------------------------------------------- */

static void words(void **state)
{
	static const char *const bad[] = {
		"",
		"user=root per=day",
		"uid=1 gpu_seconds=5",
		"gpu_seconds=5 per=day",
		"uid=1 gpu_seconds=0 per=day",
		"uid=1 gpu_seconds=5 per=hour",
		"uid=1 gpu_seconds=5 per=day over=kill",
		"uid=1 uid=2 gpu_seconds=5 per=day",
		"uid=1 cgroup=/a gpu_seconds=5 per=day",
		"user=nobody-has-this-name gpu_seconds=5 per=day",
		"cgroup=a gpu_seconds=5 per=day",
		"cgroup=/ gpu_seconds=5 per=day",
		"uid=1 gpu_seconds=5 per=day colour=red",
		"uid",
	};
	struct gs_budget_rule r;
	struct gs_error err;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		err = (struct gs_error){ 0 };
		if (!gs_budget_rule_parse(bad[i], GS_NAMING_STRICT, &r, &err))
			fail_msg("taken: %s", bad[i]);
		assert_true(err.text[0]);
	}
	assert_int_equal(gs_budget_rule_parse("user=root gpu_seconds=5 per=week over=stop",
					      GS_NAMING_STRICT, &r, NULL),
			 0);
	assert_true(r.by_user && !r.uid && !r.every && r.stop && r.ns == 5 * NS_PER_S &&
		    r.period == GS_PERIOD_WEEK);
	assert_int_equal(gs_budget_rule_parse("cgroup=/a/ gpu_seconds=5 per=day", GS_NAMING_STRICT,
					      &r, NULL),
			 0);
	assert_string_equal(r.cgroup, "/a");
	assert_false(r.by_user || r.stop);
	assert_int_equal(gs_budget_rule_parse("cgroup=/sys/fs/cgroup/a gpu_seconds=5 per=day",
					      GS_NAMING_STRICT, &r, NULL),
			 0);
	assert_string_equal(r.cgroup, "/a");
}

static void lines_of_the_configuration(void **state)
{
	struct gs_budget_rules rules;
	struct gs_config *c = NULL;
	char text[] = "[Budgets]\nBudget=uid=7 gpu_seconds=5 per=day\nBudget=uid=8 per=day\n";
	FILE *f = fmemopen(text, strlen(text), "r");
	struct gs_error err = { 0 };

	assert_int_equal(gs_config_new(&c), 0);
	assert_int_equal(gs_config_parse(c, f, "there", &err), 0);
	assert_true(gs_config_budgets(c, GS_NAMING_STRICT, NULL, &rules, &err) < 0);
	assert_non_null(strstr(err.text, "there:3: Budget: a budget needs"));
	fclose(f);
	gs_config_free(c);
}

static void periods(void **state)
{
	int64_t b, e;

	gs_budget_period_of(GS_PERIOD_DAY, NOON, &b, &e);
	assert_int_equal(b, NOON - DAY / 2);
	assert_int_equal(e, NOON + DAY / 2);
	gs_budget_period_of(GS_PERIOD_WEEK, NOON + 6 * DAY, &b, &e); /* Sunday */
	assert_int_equal(b, NOON - DAY / 2);
	assert_int_equal(e, NOON - DAY / 2 + 7 * DAY);
	gs_budget_period_of(GS_PERIOD_MONTH, NOON + 30 * DAY, &b, &e);
	assert_int_equal(b, NOON - DAY / 2);
	assert_int_equal(e, NOON - DAY / 2 + 31 * DAY);
	/* a day of 23 hours */
	setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
	tzset();
	gs_budget_period_of(GS_PERIOD_DAY, 1711886400, &b, &e); /* 2024-03-31 12:00 UTC */
	assert_int_equal(e - b, 23 * 3600);
	utc(NULL);
}

/* ---- accounts -------------------------------------------------------------------------------- */

static void users_and_cgroups(void **state)
{
	BEGIN("uid=7 gpu_seconds=10 per=day", "cgroup=/jobs/* gpu_seconds=5 per=day over=stop",
	      "user=* gpu_seconds=20 per=day");
	gs_spending_past_over(&s);
	charge(7, "/user.slice", 9, NOON);
	assert_false(over(7, "/user.slice"));
	charge(7, "/jobs/1/step", 4, NOON);
	assert_true(over(7, "/user.slice"));
	assert_false(gs_spending_over(&s, 7, "/")->rule->stop);
	assert_false(over(8, "/jobs/1"));
	charge(8, "/jobs/1/other", 1, NOON);
	assert_true(over(8, "/jobs/1"));
	assert_true(over(8, "/jobs/1/step/deep"));
	assert_false(over(8, "/jobs/2"));
	assert_false(over(8, "/jobs"));
	/* the strictest of several rules counts */
	assert_true(gs_spending_over(&s, 7, "/jobs/1")->rule->stop);
	/* user=* gives each other user a budget, but not a user with a separate rule, nor root */
	charge(8, "/", 18, NOON);
	assert_false(over(8, "/"));
	charge(8, "/", 1, NOON);
	assert_true(over(8, "/"));
	charge(0, "/", 100, NOON);
	assert_false(over(0, "/"));
	assert_false(gs_spending_counts_user(&s, 2, 7));
	assert_true(gs_spending_counts_user(&s, 2, 9));
}

/* systemd writes "\x2d" into names. */
static void cgroups_that_systemd_has_escaped(void **state)
{
	BEGIN("cgroup=/a.slice/b\\x2dc.service gpu_seconds=5 per=day",
	      "cgroup=/b.slice/b\\x2dc*/ gpu_seconds=5 per=day");
	gs_spending_past_over(&s);
	charge(7, "/a.slice/b\\x2dc.service/x", 6, NOON);
	assert_true(over(7, "/a.slice/b\\x2dc.service"));
	charge(7, "/b.slice/b\\x2dcd.scope", 6, NOON);
	assert_true(over(7, "/b.slice/b\\x2dcd.scope"));
	assert_false(over(7, "/b.slice"));
}

/* A container that is made anew has another id; what is above it keeps its name. */
static void a_budget_outlives_containers(void **state)
{
#define A "/docker-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.scope"
#define B "/docker-bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb.scope"
	BEGIN("cgroup=/inference.slice gpu_seconds=10 per=day",
	      "cgroup=/web.slice/docker-* gpu_seconds=10 per=day");
	gs_spending_past_over(&s);
	charge(0, "/inference.slice" A, 6, NOON);
	charge(0, "/inference.slice" B, 5, NOON);
	assert_true(over(0, "/inference.slice" B));
	charge(0, "/web.slice" A, 6, NOON);
	charge(0, "/web.slice" B, 5, NOON);
	assert_false(over(0, "/web.slice" A) || over(0, "/web.slice" B));
}

static void a_period_ends(void **state)
{
	BEGIN("uid=7 gpu_seconds=10 per=day");
	gs_spending_past_over(&s);
	charge(7, "/", 11, NOON);
	gs_spending_roll(&s, NOON + DAY / 2 - 1);
	assert_true(over(7, "/"));
	gs_spending_roll(&s, NOON + DAY / 2);
	assert_false(over(7, "/"));
	gs_spending_roll(&s, NOON + DAY);
	assert_null(s.all); /* no account is kept of it */
}

static void no_clock_makes_it_stricter(void **state)
{
	uint64_t used;

	BEGIN("uid=7 gpu_seconds=10 per=month");
	gs_spending_past_over(&s);
	charge(7, "/", 9, NOON);
	used = s.all->used_ns;
	/* the clock goes back by years, and forward again */
	gs_spending_roll(&s, NOON - 1000ll * DAY);
	assert_false(over(7, "/"));
	assert_true(s.all->used_ns == used);
	gs_spending_roll(&s, NOON);
	assert_false(over(7, "/"));
	/* the clock goes forward by years, and back: the account only has the wrong month's use */
	charge(7, "/", 3, NOON + 1000ll * DAY);
	assert_true(s.all->used_ns == 3 * NS_PER_S);
	gs_spending_roll(&s, NOON);
	assert_true(s.all->used_ns == 3 * NS_PER_S);
	charge(7, "/", 6, NOON);
	assert_false(over(7, "/"));
}

static void what_was_used_before(void **state)
{
	int64_t b, e;

	gs_budget_period_of(GS_PERIOD_DAY, NOON, &b, &e);
	BEGIN("uid=7 gpu_seconds=10 per=day", "cgroup=/a gpu_seconds=10 per=day");
	assert_true(gs_spending_wants_past(&s));
	charge(7, "/a", 100, NOON); /* the history may have this time, too */
	assert_false(over(7, "/a"));
	gs_spending_add_past(&s, GS_PERIOD_DAY, b, 7, NULL, 6 * NS_PER_S);
	gs_spending_add_past(&s, GS_PERIOD_DAY, b, 7, NULL, 3 * NS_PER_S);
	gs_spending_add_past(&s, GS_PERIOD_WEEK, b, 7, NULL, 100 * NS_PER_S);
	gs_spending_add_past(&s, GS_PERIOD_DAY, b, 0, "/a/b", 10 * NS_PER_S);
	gs_spending_past_over(&s);
	assert_false(gs_spending_wants_past(&s));
	assert_false(over(7, "/"));
	assert_true(over(9, "/a"));
	gs_spending_add_past(&s, GS_PERIOD_DAY, b, 7, NULL, 100 * NS_PER_S);
	assert_false(over(7, "/"));
	charge(7, "/", 1, NOON);
	assert_true(over(7, "/"));
}

static void a_wrong_clock_at_the_start(void **state)
{
	int64_t begins, e;

	gs_budget_period_of(GS_PERIOD_DAY, NOON + 1000ll * DAY, &begins, &e);
	BEGIN("uid=7 gpu_seconds=10 per=day");
	gs_spending_add_past(&s, GS_PERIOD_DAY, begins, 7, NULL, 2 * NS_PER_S);
	gs_spending_past_over(&s);
	charge(7, "/", 5, NOON + 1000ll * DAY);
	/* within the same day nothing changes: its past would count twice */
	gs_spending_rebase(&s, NOON + 1000ll * DAY, NOON + 1000ll * DAY - 300);
	assert_false(gs_spending_wants_past(&s));
	assert_int_equal(s.all->used_ns, 7 * NS_PER_S);
	/* the right day has what was charged, and its own past, which is larger than the other */
	gs_spending_rebase(&s, NOON + 1000ll * DAY, NOON);
	assert_true(gs_spending_wants_past(&s));
	gs_budget_period_of(GS_PERIOD_DAY, NOON, &begins, &e);
	assert_int_equal(s.all->used_ns, 7 * NS_PER_S);
	gs_spending_add_past(&s, GS_PERIOD_DAY, begins, 7, NULL, 1 * NS_PER_S);
	assert_int_equal(s.all->used_ns, 7 * NS_PER_S);
	gs_spending_add_past(&s, GS_PERIOD_DAY, begins, 7, NULL, 3 * NS_PER_S);
	gs_spending_past_over(&s);
	gs_spending_roll(&s, NOON);
	assert_int_equal(s.all->used_ns, 9 * NS_PER_S);
	/* forward, only what was charged */
	gs_spending_rebase(&s, NOON, NOON + 9ll * DAY);
	assert_int_equal(s.all->used_ns, 5 * NS_PER_S);
	gs_spending_past_over(&s);
	charge(7, "/", 5, NOON + 9ll * DAY);
	assert_true(over(7, "/"));
}

static void other_rules(void **state)
{
	BEGIN("uid=7 gpu_seconds=10 per=day", "uid=8 gpu_seconds=10 per=day");
	gs_spending_past_over(&s);
	charge(7, "/", 11, NOON);
	charge(8, "/", 5, NOON);
	BEGIN("uid=9 gpu_seconds=1 per=day", "uid=8 gpu_seconds=5 per=day",
	      "uid=7 gpu_seconds=20 per=day");
	assert_false(over(7, "/"));
	assert_true(over(8, "/"));
	assert_true(gs_spending_wants_past(&s)); /* the history of the new period is needed */
	charge(7, "/", 9, NOON);
	assert_true(over(7, "/"));
	BEGIN("uid=9 gpu_seconds=1 per=day");
	assert_false(over(7, "/") || over(8, "/"));
}

static void a_user_has_half_of_the_accounts(void **state)
{
	char cgroup[64];

	BEGIN("cgroup=/jobs/* gpu_seconds=10 per=day");
	gs_spending_past_over(&s);
	for (unsigned int i = 0; i < GS_ACCOUNTS_MAX; i++) {
		snprintf(cgroup, sizeof(cgroup), "/jobs/a%u", i);
		charge(7, cgroup, 11, NOON);
	}
	assert_true(HASH_COUNT(s.all) <= GS_ACCOUNTS_MAX / 2);
	assert_true(s.left > 0);
	charge(8, "/jobs/other", 11, NOON);
	assert_true(over(8, "/jobs/other"));
	gs_spending_roll(&s, NOON + 2 * DAY); /* accounts without use go, and their shares */
	assert_null(s.all);
	assert_int_equal(s.shares.all, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words),
		cmocka_unit_test(lines_of_the_configuration),
		cmocka_unit_test(periods),
		cmocka_unit_test_teardown(users_and_cgroups, done),
		cmocka_unit_test_teardown(cgroups_that_systemd_has_escaped, done),
		cmocka_unit_test_teardown(a_budget_outlives_containers, done),
		cmocka_unit_test_teardown(a_period_ends, done),
		cmocka_unit_test_teardown(no_clock_makes_it_stricter, done),
		cmocka_unit_test_teardown(what_was_used_before, done),
		cmocka_unit_test_teardown(a_wrong_clock_at_the_start, done),
		cmocka_unit_test_teardown(other_rules, done),
		cmocka_unit_test_teardown(a_user_has_half_of_the_accounts, done),
	};

	return cmocka_run_group_tests(tests, utc, NULL);
}
