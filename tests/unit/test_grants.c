// SPDX-License-Identifier: MIT
/* test_grants.c - check who gets limits and requests, which one applies, and who shares it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "classify/grants.h"
#include "classify/priv.h"
#include "classify/rules.h"

/* Facts of a user's program: cgroups[0] is the user's, below root's cgroups[1]. */
static struct gs_cgroup_parts cgroups[2];
static struct gs_grant_facts f;

static int begin(void **state)
{
	cgroups[0] = (struct gs_cgroup_parts){ .id = 7 };
	cgroups[1] = (struct gs_cgroup_parts){ .id = 5, .roots = true };
	f = (struct gs_grant_facts){ .cgroup = cgroups, .ncgroups = 2, .class_id = 9 };
	return 0;
}

static void command(uint32_t limit, uint32_t request, uint64_t grant)
{
	f.own = (struct gpusched_proc){ .source = GPUSCHED_SRC_COMMAND,
					.limit_pct = (gs_u16)limit,
					.request_pct = (gs_u16)request,
					.limit_grant = grant,
					.request_grant = grant };
}

static struct gs_grant limit(void)
{
	return gs_grants_of(&f).part[GS_LIMIT];
}

static struct gs_grant request(void)
{
	return gs_grants_of(&f).part[GS_REQUEST];
}

#define ROOTS(n) ((n) | GPUSCHED_GRANT_ROOT)

static void nothing_is_given(void **state)
{
	assert_int_equal(limit().to, GS_GRANTED_NOBODY);
	assert_int_equal(limit().group, 0);
	assert_int_equal(request().pct, 0);
}

static void roots_come_in_their_order(void **state)
{
	uint64_t pods_group;

	f.cls.limit_pct = 50;
	assert_int_equal(limit().pct, 50);
	assert_int_equal(limit().to, GS_GRANTED_CLASS);
	f.pod = (struct gs_cgroup_parts){ .id = 5, .pct = { [GS_LIMIT] = 45, [GS_REQUEST] = 10 } };
	assert_int_equal(limit().pct, 45);
	assert_int_equal(limit().to, GS_GRANTED_POD);
	assert_int_equal(request().pct, 10);
	pods_group = limit().group;
	cgroups[1].pct[GS_LIMIT] = 40;
	assert_int_equal(limit().pct, 40);
	assert_int_equal(limit().to, GS_GRANTED_CGROUP);
	assert_int_not_equal(limit().group, pods_group);
	command(60, 0, ROOTS(1));
	assert_int_equal(limit().pct, 60);
	assert_int_equal(limit().to, GS_GRANTED_PROGRAM);
	assert_true(limit().by_root);
}

static void an_owners_limit_never_replaces_roots(void **state)
{
	struct gs_grant roots;

	cgroups[0].pct[GS_LIMIT] = 90;
	assert_int_equal(limit().pct, 90); /* this limit is the program's own */
	assert_false(limit().by_root);
	command(80, 0, 1);
	assert_int_equal(limit().pct, 80);
	cgroups[1].pct[GS_LIMIT] = 30;
	roots = limit();
	assert_int_equal(roots.pct, 30);
	/* not even a lower limit of the owner replaces root's, since it would form another group */
	command(20, 0, 2);
	cgroups[0].pct[GS_LIMIT] = 10;
	assert_int_equal(limit().group, roots.group);
	assert_int_equal(limit().pct, 30);
	cgroups[1].pct[GS_LIMIT] = 0;
	f.cls.limit_pct = 50;
	assert_int_equal(limit().to, GS_GRANTED_CLASS);
}

static void the_nearest_of_roots_cgroups_counts(void **state)
{
	cgroups[0].roots = true;
	cgroups[0].pct[GS_LIMIT] = 20;
	cgroups[1].pct[GS_LIMIT] = 40;
	cgroups[1].pct[GS_REQUEST] = 10;
	assert_int_equal(limit().pct, 20);
	assert_int_equal(request().pct, 10);
}

static void owners_give_no_requests(void **state)
{
	cgroups[0].pct[GS_REQUEST] = 50;
	command(0, 50, 1);
	assert_int_equal(request().pct, 0);
	cgroups[1].pct[GS_REQUEST] = 20;
	assert_int_equal(request().pct, 20);
	f.cls.request_pct = 30;
	assert_int_equal(request().pct, 20);
	command(0, 40, ROOTS(1));
	assert_int_equal(request().pct, 40);
}

/* All descendants share a limit that a command gave, whatever cgroups they are in. */
static void a_grant_is_one_group(void **state)
{
	struct gs_grant first;

	command(30, 10, ROOTS(77));
	first = limit();
	cgroups[0].id = 1234;
	f.class_id = 3;
	assert_int_equal(limit().group, first.group);
	command(30, 10, ROOTS(78));
	assert_int_not_equal(limit().group, first.group);
	/* a class, a cgroup and a grant of the same number are three groups */
	command(0, 0, 0);
	f.cls.limit_pct = 30;
	f.class_id = 77;
	assert_int_not_equal(limit().group, first.group);
	cgroups[1].id = 77;
	cgroups[1].pct[GS_LIMIT] = 30;
	assert_int_not_equal(limit().group, first.group);
	assert_int_not_equal(limit().group, (uint64_t)77);
}

static void a_rules_class_carries_no_command(void **state)
{
	command(30, 10, ROOTS(1));
	f.own.source = GPUSCHED_SRC_RULE;
	assert_int_equal(limit().pct, 0);
	assert_int_equal(request().pct, 0);
}

static void numbers_differ(void **state)
{
	uint64_t a = gs_grant_new(1000, 5, false);

	assert_int_equal(gs_grant_new(1000, 5, false), a);
	assert_int_not_equal(gs_grant_new(1000, 6, false), a);
	assert_int_not_equal(gs_grant_new(1001, 5, false), a);
	assert_int_equal(gs_grant_new(1000, 5, true), ROOTS(a));
	assert_int_equal(a & GPUSCHED_GRANT_ROOT, 0);
	assert_int_not_equal(a, 0);
}

/* ---- with a class: weights, and the reasons that `class explain` gives ----------------------- */

static struct gs_classes *classes;
static struct gs_facts facts;

static int begin_class(void **state)
{
	memset(&facts, 0, sizeof(facts));
	facts.uid = facts.gid = 1000;
	facts.ncgroups = 2;
	strcpy(facts.cgroups[0].path, "/team/mine");
	strcpy(facts.cgroups[1].path, "/team");
	facts.cgroups[0].owners = true;
	facts.cgroups[1].parts.roots = true;
	return gs_classes_new(&classes) || gs_classes_set_default(classes, "be", NULL);
}

static int end_class(void **state)
{
	gs_classes_free(classes);
	return 0;
}

static struct gs_class_answer answer(struct gs_class_losers *l)
{
	struct gs_class_answer a;

	gs_classify_facts(classes, &facts, &a, l);
	return a;
}

static void a_cgroup_gives_a_weight(void **state)
{
	struct gpusched_proc own = { .source = GPUSCHED_SRC_OWNER, .weight = 80 };
	struct gs_class_answer a;

	assert_int_equal(answer(NULL).weight, 100);
	facts.cgroups[1].weight = 300;
	assert_int_equal(answer(NULL).weight, 300);
	assert_true(answer(NULL).weight_kept);
	facts.cgroups[0].weight = 500; /* the owner's, which is higher than root's: not taken */
	assert_int_equal(answer(NULL).weight, 300);
	facts.cgroups[0].weight = 20;
	assert_int_equal(answer(NULL).weight, 20);
	facts.cgroups[0].weight = 0;
	facts.cgroups[1].weight = 30;
	a = answer(NULL);
	a.weight = own.weight;
	gs_parts_give(classes, &own, &facts, &a, NULL);
	assert_int_equal(a.weight, 30); /* an owner's command does not raise it */
	own.weight = 10;
	gs_parts_give(classes, &own, &facts, &a, NULL);
	assert_int_equal(a.weight, 10);
	own = (struct gpusched_proc){ .source = GPUSCHED_SRC_COMMAND, .weight = 80 };
	a.weight = 80;
	gs_parts_give(classes, &own, &facts, &a, NULL);
	assert_int_equal(a.weight, 80); /* root's command does */
}

static void a_weight_of_class_set_comes_first(void **state)
{
	facts.cgroups[1].weight = 300;
	assert_int_equal(gs_rules_set_cgroup(classes, "/team", GPUSCHED_CLASS_BE, 50), 0);
	assert_int_equal(answer(NULL).weight, 50);
	assert_int_equal(gs_rules_set_cgroup(classes, "/team", GPUSCHED_CLASS_BE, 0), 0);
	assert_int_equal(answer(NULL).weight, 300);
}

static void reasons_are_told(void **state)
{
	struct gs_class_losers l = { 0 };

	answer(&l);
	assert_string_equal(l.part[GS_LIMIT], "");
	facts.cgroups[0].parts.pct[GS_LIMIT] = 60;
	facts.cgroups[0].parts.pct[GS_REQUEST] = 60;
	answer(&l);
	assert_string_equal(l.part[GS_LIMIT], "user.gpusched.limit of cgroup /team/mine");
	assert_string_equal(l.part[GS_REQUEST], "user.gpusched.request of cgroup /team/mine passed "
						"over: only root gives requests");
	facts.cgroups[1].parts.pct[GS_LIMIT] = 30;
	facts.cgroups[1].bad = "user.gpusched.request";
	assert_int_equal(answer(&l).grants.part[GS_LIMIT].pct, 30);
	assert_string_equal(l.part[GS_LIMIT],
			    "user.gpusched.limit of cgroup /team; user.gpusched.limit of cgroup "
			    "/team/mine passed over: it does not replace root's limit");
	assert_non_null(strstr(l.part[GS_REQUEST],
			       "user.gpusched.request of cgroup /team is no number from 1 to 100"));
}

#define TEST(f) cmocka_unit_test_setup(f, begin)
#define WITH_CLASS(f) cmocka_unit_test_setup_teardown(f, begin_class, end_class)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(nothing_is_given),
		TEST(roots_come_in_their_order),
		TEST(an_owners_limit_never_replaces_roots),
		TEST(the_nearest_of_roots_cgroups_counts),
		TEST(owners_give_no_requests),
		TEST(a_grant_is_one_group),
		TEST(a_rules_class_carries_no_command),
		TEST(numbers_differ),
		WITH_CLASS(a_cgroup_gives_a_weight),
		WITH_CLASS(a_weight_of_class_set_comes_first),
		WITH_CLASS(reasons_are_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
