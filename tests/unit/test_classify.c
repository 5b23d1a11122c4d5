// SPDX-License-Identifier: MIT
/* test_classify.c - check classes, rules, rights to raise, and precedence, on invented facts */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cmocka.h>

#include "basic/cleanup.h"
#include "classify/job.h"
#include "classify/links.h"
#include "classify/priv.h"
#include "classify/rules.h"

static struct gs_classes *fresh(void)
{
	const struct gpusched_class heavy = { .weight = 500 }, light = { .weight = 10 };
	struct gs_classes *c = NULL;

	assert_int_equal(gs_classes_new(&c), 0);
	assert_int_equal(gs_classes_add(c, "batch", &light, NULL), 0);
	assert_int_equal(gs_classes_add(c, "train", &heavy, NULL), 0);
	return c;
}

static struct gs_facts process(uid_t uid, const char *comm)
{
	struct gs_facts f = { .pid = 7, .uid = uid, .gid = uid };

	f.root = uid ? GS_ROOT_NOT : GS_ROOT_MACHINES;

	snprintf(f.comm, sizeof(f.comm), "%s", comm);
	snprintf(f.exe, sizeof(f.exe), "/usr/bin/%s", comm);
	memcpy(f.args, "prog\0--mode\0train", 18);
	f.nargs = 18;
	snprintf(f.cgroups[0].path, sizeof(f.cgroups[0].path), "/user.slice/job/inner");
	f.cgroups[0].owners = uid;
	snprintf(f.cgroups[1].path, sizeof(f.cgroups[1].path), "/user.slice/job");
	snprintf(f.cgroups[2].path, sizeof(f.cgroups[2].path), "/user.slice");
	snprintf(f.cgroups[3].path, sizeof(f.cgroups[3].path), "/");
	f.ncgroups = 4;
	return f;
}

static void expect(struct gs_classes *c, const struct gs_facts *f, const char *name,
		   enum gpusched_class_source source)
{
	struct gs_class_answer a;

	gs_classify_facts(c, f, &a, NULL);
	assert_string_equal(gs_class_name(c, a.class_id), name);
	assert_int_equal(a.source, source);
	assert_true(a.why[0] != '\0');
}

static void test_table(void **state)
{
	struct gpusched_class cls = { .weight = 100 };
	struct gs_error err = { 0 };
	struct gs_classes *c = fresh();
	uint32_t id;

	(void)state;
	assert_int_equal(gs_class_id(c, "lc", &id), 0);
	assert_int_equal(id, GPUSCHED_CLASS_LC);
	assert_int_equal(gs_class_id(c, "batch", &id), 0);
	assert_int_equal(id, GPUSCHED_CLASS_FIRST_USER);
	assert_int_equal(gs_class_id(c, "nosuch", &id), -ENOENT);
	assert_null(gs_class_name(c, 63));
	assert_int_equal(gs_classes_add(c, "batch", &cls, &err), -EEXIST);
	assert_int_equal(gs_classes_add(c, "a b", &cls, NULL), -EINVAL);
	assert_int_equal(gs_classes_add(c, "", &cls, NULL), -EINVAL);
	assert_int_equal(gs_classes_add(c, "none", &cls, NULL), -EINVAL);
	/* a built-in class may get other limits, once */
	cls.suspend_limit_ms = 77;
	assert_int_equal(gs_classes_add(c, "be", &cls, NULL), 0);
	assert_int_equal(gs_class_of(c, GPUSCHED_CLASS_BE)->suspend_limit_ms, 77);
	assert_int_equal(gs_classes_add(c, "be", &cls, NULL), -EEXIST);
	cls.weight = 0;
	assert_int_equal(gs_classes_add(c, "zero", &cls, NULL), -ERANGE);
	cls.weight = 1;
	for (int i = 0; i < GPUSCHED_MAX_CLASSES; i++) {
		char name[16];

		snprintf(name, sizeof(name), "c%d", i);
		if (gs_classes_add(c, name, &cls, &err) < 0) {
			assert_int_equal(err.code == 0 ? 0 : i,
					 GPUSCHED_MAX_CLASSES - GPUSCHED_CLASS_FIRST_USER - 2);
			break;
		}
	}
	gs_classes_free(c);
}

static void losers_come_in_their_order(void **state)
{
	struct gs_facts f = process(1000, "python3");
	struct gs_classes *c = fresh();
	struct gs_class_losers l = { 0 };
	struct gs_class_answer a;
	uint32_t batch;

	(void)state;
	assert_int_equal(gs_class_id(c, "batch", &batch), 0);
	assert_int_equal(gs_classes_add_rule(c, "uid=1000 -> normal", NULL), 0);
	assert_int_equal(gs_classes_add_rule(c, "comm=python3 -> be", NULL), 0);
	f.cgroups[1].owners = f.cgroups[2].owners = false;
	strcpy(f.cgroups[1].attr, "train");
	strcpy(f.cgroups[2].attr, "be");
	assert_int_equal(gs_rules_set_cgroup(c, "/user.slice/job", batch, 0), 0);
	assert_int_equal(gs_rules_set_cgroup(c, "/", GPUSCHED_CLASS_LC, 0), 0);
	gs_classify_facts(c, &f, &a, &l);
	assert_int_equal(a.class_id, batch);
	assert_int_equal(l.n, 5);
	assert_string_equal(l.text[0], "class lc: class set for cgroup /");
	assert_string_equal(l.text[1], "class train: user.gpusched.class=train of cgroup "
				       "/user.slice/job");
	assert_string_equal(l.text[2], "class be: user.gpusched.class of cgroup /user.slice");
	assert_string_equal(l.text[3], "class normal: rule 1: uid=1000 -> normal");
	assert_string_equal(l.text[4], "class be: rule 2: comm=python3 -> be");
	gs_classes_free(c);
}

/* A rule whose user nobody knows yet may be that of the process: later rules raise it no higher. */
static void rules_that_wait_hold_later_ones_down(void **state)
{
	static const struct {
		const char *rules[3];
		const char *class_;
	} cases[] = {
		{ { "uid=nosuch -> be", "uid=1000 -> lc" }, "be" },
		{ { "uid=nosuch comm=python3 -> be", "uid=1000 -> lc" }, "be" },
		{ { "uid=nosuch comm=vim -> be", "uid=1000 -> lc" }, "lc" },
		{ { "uid=1000 -> lc", "uid=nosuch -> be" }, "lc" },
		{ { "uid=nosuch -> lc", "uid=1000 -> normal" }, "normal" },
		{ { "uid=nosuch -> lc", "comm=python3 -> lc" }, "none" }, /* an owner's choice */
		{ { "uid=nosuch -> normal", "uid=nosuch2 -> batch", "uid=1000 -> lc" }, "batch" },
		{ { "uid=nosuch -> small", "uid=1000 -> large" }, "small" }, /* limits, too */
		{ { "uid=nosuch -> be" }, "none" },
		{ { "uid=nosuch -> lc" }, "none" },
	};
	const struct gpusched_class small = { .weight = 100, .limit_pct = 20 },
				    large = { .weight = 100, .limit_pct = 80 };
	struct gs_facts f = process(1000, "python3");

	for (size_t i = 0; i < GS_COUNT(cases); i++) {
		struct gs_classes *c = fresh();
		struct gs_class_answer a;

		assert_int_equal(gs_classes_add(c, "small", &small, NULL), 0);
		assert_int_equal(gs_classes_add(c, "large", &large, NULL), 0);
		gs_classes_naming(c, GS_NAMING_LATER);
		for (size_t k = 0; k < 3 && cases[i].rules[k]; k++)
			assert_int_equal(gs_classes_add_rule(c, cases[i].rules[k], NULL),
					 strstr(cases[i].rules[k], "nosuch") ? GS_NAME_WAITS : 0);
		gs_classify_facts(c, &f, &a, NULL);
		if (strcmp(a.class_id ? gs_class_name(c, a.class_id) : "none", cases[i].class_))
			fail_msg("case %zu: %s: %s", i, gs_class_name(c, a.class_id), a.why);
		gs_classes_free(c);
	}
}

/* Only a name makes a line wait, and a mistake beside it is told. */
static void lines_that_wait_for_a_name(void **state)
{
	static const struct {
		enum gs_naming naming;
		const char *rule;
		int r;
		const char *text;
	} cases[] = {
		{ GS_NAMING_STRICT, "uid=no/such -> be", -ENOENT, "there is no user 'no/such'" },
		{ GS_NAMING_KEEP, "uid=no/such -> be", GS_NAME_WAITS, "there is no user" },
		{ GS_NAMING_KEEP, "uid=root -> be", 0, "" },
		{ GS_NAMING_LATER, "uid=root -> be", GS_NAME_WAITS, "who user 'root' is" },
		{ GS_NAMING_LATER, "uid=0 -> be", 0, "" },
		{ GS_NAMING_LATER, "uid= -> be", -EINVAL, "empty" },
		{ GS_NAMING_LATER, "uid=root colour=red -> be", -EINVAL, "'colour='" },
	};

	for (size_t i = 0; i < GS_COUNT(cases); i++) {
		struct gs_classes *c = fresh();
		struct gs_error err = { 0 };

		gs_classes_naming(c, cases[i].naming);
		if (gs_classes_add_rule(c, cases[i].rule, &err) != cases[i].r ||
		    !strstr(err.text, cases[i].text))
			fail_msg("case %zu: %s", i, err.text);
		gs_classes_free(c);
	}
}

/* `class explain` names the rules that came near, and why they do not match. */
static void rules_that_came_near(void **state)
{
	static const struct {
		const char *rule, *text; /* NULL: it did not come near */
	} cases[] = {
		{ "comm=python3 uid=1001 -> lc", "since its uid is another here" },
		{ "exe=/opt/bin/python3 -> lc", "since its exe is /usr/bin/python3 here" },
		{ "comm=python3 exe=/usr/bin/vim -> lc", "since its exe is /usr/bin/python3 here" },
		{ "cgroup=/system.slice/job -> lc", "since its cgroup is /user.slice/job/inner" },
		{ "comm=python3 arg=serve -> lc", "since its arg is another here" },
		{ "comm=python3 kind=graphics -> lc", "since its kind is compute here" },
		{ "kind=graphics -> lc", NULL },
		{ "comm=vim -> lc", NULL },
		{ "comm=vim uid=1001 -> lc", NULL },
		{ "pod=server comm=python3 -> lc", NULL }, /* it is in no pod */
	};
	struct gs_facts f = process(1000, "python3");

	f.program = GPUSCHED_IS_COMPUTE;
	for (size_t i = 0; i < GS_COUNT(cases); i++) {
		struct gs_classes *c = fresh();
		struct gs_class_losers l = { 0 };
		struct gs_class_answer a;

		assert_int_equal(gs_classes_add_rule(c, cases[i].rule, NULL), 0);
		gs_classify_facts(c, &f, &a, &l);
		assert_int_equal(a.source, GPUSCHED_SRC_DEFAULT);
		assert_int_equal(l.n, cases[i].text != NULL);
		if (cases[i].text)
			assert_non_null(strstr(l.text[0], cases[i].text));
		gs_classes_free(c);
	}
}

static size_t follow(struct gs_classes *c)
{
	struct gs_links l;
	size_t n;

	assert_int_equal(gs_links_of(c, &l), 0);
	gs_links_follow(&l);
	n = gs_links_put(c, &l);
	gs_links_done(&l);
	return n;
}

/* exe= by a link, as /usr/bin/python3 is one: the kernel shows the program that it leads to. */
static void exe_by_a_link(void **state)
{
	char dir[] = "/tmp/test_classify.XXXXXX", link[64], rule[96], why[GS_WHY_LEN + 512];
	struct gs_class_answer a;
	struct gs_facts f = process(1000, "python3");
	struct gs_classes *c = fresh();

	assert_non_null(mkdtemp(dir));
	snprintf(link, sizeof(link), "%s/python3", dir);
	assert_int_equal(symlink("/bin/true", link), 0);
	snprintf(rule, sizeof(rule), "exe=%s -> be", link);
	assert_int_equal(gs_classes_add_rule(c, rule, NULL), 0);
	expect(c, &f, "none", GPUSCHED_SRC_DEFAULT);
	assert_non_null(realpath("/bin/true", f.exe));
	expect(c, &f, "be", GPUSCHED_SRC_RULE);
	snprintf(f.exe, sizeof(f.exe), "%s", link);
	expect(c, &f, "be", GPUSCHED_SRC_RULE);
	unlink(link); /* as an upgrade does */
	assert_int_equal(symlink("/bin/false", link), 0);
	assert_non_null(realpath("/bin/false", f.exe));
	expect(c, &f, "none", GPUSCHED_SRC_DEFAULT);
	assert_int_equal(follow(c), 1);
	assert_int_equal(follow(c), 0);
	expect(c, &f, "be", GPUSCHED_SRC_RULE);
	gs_classify_facts(c, &f, &a, NULL);
	snprintf(why, sizeof(why), "rule 1: %s (%s)", rule, f.exe);
	assert_string_equal(a.why, why);
	unlink(link);
	assert_int_equal(follow(c), 1);
	expect(c, &f, "none", GPUSCHED_SRC_DEFAULT);
	gs_classes_free(c);
	/* the loop does not follow links */
	assert_int_equal(symlink("/bin/false", link), 0);
	c = fresh();
	gs_classes_naming(c, GS_NAMING_LATER);
	assert_int_equal(gs_classes_add_rule(c, rule, NULL), 0);
	expect(c, &f, "none", GPUSCHED_SRC_DEFAULT);
	assert_int_equal(follow(c), 1);
	expect(c, &f, "be", GPUSCHED_SRC_RULE);
	gs_classes_free(c);
	unlink(link);
	rmdir(dir);
}

static bool is_gid(const void *self, gid_t gid)
{
	return gid == *(const gid_t *)self;
}

static bool may(const struct gs_classes *c, uid_t uid, gid_t gid, uid_t owner, uint32_t from,
		uint32_t to)
{
	const struct gs_asker by = { uid, !uid, is_gid, &gid };

	return gs_class_may(c, &by, owner, from, to);
}

static void test_order_and_may(void **state)
{
	struct gs_classes *c = fresh();
	struct gs_error err = { 0 };
	uint32_t batch, train;

	(void)state;
	gs_class_id(c, "batch", &batch);
	gs_class_id(c, "train", &train);
	assert_true(gs_class_compare(c, GPUSCHED_CLASS_LC, GPUSCHED_CLASS_NORMAL) > 0);
	assert_true(gs_class_compare(c, GPUSCHED_CLASS_NORMAL, train) > 0);
	assert_true(gs_class_compare(c, train, batch) > 0);
	assert_true(gs_class_compare(c, batch, GPUSCHED_CLASS_BE) > 0);
	assert_int_equal(gs_class_compare(c, batch, batch), 0);

	assert_true(may(c, 0, 0, 1000, GPUSCHED_CLASS_BE, GPUSCHED_CLASS_LC));
	assert_true(may(c, 1000, 1000, 1000, GPUSCHED_CLASS_NONE, GPUSCHED_CLASS_BE));
	assert_false(may(c, 1000, 1000, 1000, GPUSCHED_CLASS_BE, GPUSCHED_CLASS_NORMAL));
	assert_false(may(c, 1000, 1000, 1001, GPUSCHED_CLASS_LC, GPUSCHED_CLASS_BE));

	assert_int_equal(gs_classes_allow(c, "lc uid=1000", NULL), 0);
	assert_true(may(c, 1000, 1000, 1000, GPUSCHED_CLASS_BE, GPUSCHED_CLASS_LC));
	assert_true(may(c, 1000, 1000, 1000, GPUSCHED_CLASS_BE, GPUSCHED_CLASS_NORMAL));
	assert_false(may(c, 1001, 1000, 1001, GPUSCHED_CLASS_BE, GPUSCHED_CLASS_LC));
	assert_false(may(c, 1000, 1000, 1001, GPUSCHED_CLASS_BE, GPUSCHED_CLASS_LC));
	assert_int_equal(gs_classes_allow(c, "train gid=1001", NULL), 0);
	assert_true(may(c, 1001, 1001, 1001, GPUSCHED_CLASS_BE, train));
	assert_false(may(c, 1001, 1001, 1001, GPUSCHED_CLASS_BE, GPUSCHED_CLASS_LC));
	/* such names have spaces; here there is no such group */
	assert_int_equal(gs_classes_allow(c, "lc group=domain users", &err), -ENOENT);
	assert_non_null(strstr(err.text, "domain users"));
	assert_int_equal(gs_classes_allow(c, "lc group=a uid=1", NULL), -EINVAL);
	assert_int_equal(gs_classes_allow(c, "lc uid=1000 1001", NULL), -EINVAL);
	assert_int_equal(gs_classes_allow(c, "lc", NULL), -EINVAL);
	assert_int_equal(gs_classes_allow(c, "nosuch uid=1", NULL), -ENOENT);
	assert_int_equal(gs_classes_allow(c, "lc uid=x", NULL), -EINVAL);
	assert_int_equal(gs_classes_allow(c, "lc shoe=1", NULL), -EINVAL);
	assert_int_equal(gs_classes_allow_trace(c, "gid=1001", NULL), 0);
	assert_int_equal(gs_classes_allow_trace(c, "user=root", NULL), 0);
	assert_int_equal(gs_classes_allow_trace(c, "lc uid=1", NULL), -EINVAL);
	assert_int_equal(gs_classes_allow_trace(c, "1000", NULL), -EINVAL);
	assert_int_equal(gs_classes_allow_trace(c, "user=no-such-user", NULL), -ENOENT);
	assert_true(gs_classes_tracer(c, 0)->is_group && gs_classes_tracer(c, 0)->gid == 1001);
	assert_true(!gs_classes_tracer(c, 1)->is_group && !gs_classes_tracer(c, 1)->uid);
	assert_null(gs_classes_tracer(c, 2));
	gs_classes_free(c);
}

static void test_rule_errors(void **state)
{
	static const char *const bad[] = {
		"comm=a lc",
		"-> lc",
		"comm=a -> nosuch",
		"shoe=a -> lc",
		"comm -> lc",
		"comm= -> lc",
		"comm=a comm=b -> lc",
		"uid=nosuchuser! -> be",
		"uid=-1 -> be",
		"uid=4294967295 -> be",
		"kind=copy -> be",
		"kind= -> be",
		"kind=compute kind=graphics -> be",
	};
	struct gs_classes *c = fresh();

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct gs_error err = { 0 };

		assert_true(gs_classes_add_rule(c, bad[i], &err) < 0);
		assert_true(err.text[0] != '\0');
	}
	assert_int_equal(c->nrules, 0);
	gs_classes_free(c);
}

static void test_rules(void **state)
{
	struct gs_classes *c = fresh();
	struct gs_facts f = process(1000, "python3");

	(void)state;
	expect(c, &f, "none", GPUSCHED_SRC_DEFAULT);
	assert_int_equal(gs_classes_set_default(c, "normal", NULL), 0);
	assert_int_equal(gs_classes_set_default(c, "nosuch", NULL), -ENOENT);
	expect(c, &f, "normal", GPUSCHED_SRC_DEFAULT);
	assert_int_equal(gs_classes_add_rule(c, "comm=python3 arg=serve -> train", NULL), 0);
	expect(c, &f, "normal", GPUSCHED_SRC_DEFAULT);
	assert_int_equal(gs_classes_add_rule(c, "  comm=pyth* arg=tr?in   ->   be ", NULL), 0);
	expect(c, &f, "be", GPUSCHED_SRC_RULE);
	assert_int_equal(gs_classes_add_rule(c, "uid=1000 -> lc", NULL), 0);
	expect(c, &f, "be", GPUSCHED_SRC_RULE); /* the first rule that matches counts */
	snprintf(f.comm, sizeof(f.comm), "other");
	expect(c, &f, "lc", GPUSCHED_SRC_RULE); /* a user cannot choose the uid */
	f.uid = 1001;
	expect(c, &f, "normal", GPUSCHED_SRC_DEFAULT);
	assert_int_equal(gs_classes_add_rule(c, "exe=/usr/bin/py* -> batch", NULL), 0);
	expect(c, &f, "batch", GPUSCHED_SRC_RULE);
	gs_classes_free(c);
}

/* The kernel keeps 15 characters; what a rule became is told. */
static void a_comm_that_is_cut(void **state)
{
	struct gs_facts f = process(1000, "VLLM::EngineCor");
	struct gs_classes *c = fresh();
	struct gs_class_answer a;

	(void)state;
	assert_int_equal(gs_classes_add_rule(c, " comm=VLLM::EngineCore -> be", NULL), 0);
	gs_classify_facts(c, &f, &a, NULL);
	assert_string_equal(a.why, "rule 1: comm=VLLM::EngineCore -> be (cut to VLLM::EngineCor)");
	gs_classes_free(c);
}

static void test_never_raises(void **state)
{
	struct gs_classes *c = fresh();
	struct gs_facts user = process(1000, "server"), root = process(0, "server");

	(void)state;
	assert_int_equal(gs_classes_add_rule(c, "comm=server -> lc", NULL), 0);
	expect(c, &user, "none", GPUSCHED_SRC_DEFAULT);
	expect(c, &root, "lc", GPUSCHED_SRC_RULE);
	/*
	 * users choose names of their own cgroups, so such a rule must not raise; root's names may
	 */
	assert_int_equal(gs_classes_add_rule(c, "cgroup=*/inner -> lc", NULL), 0);
	expect(c, &user, "none", GPUSCHED_SRC_DEFAULT);
	assert_int_equal(gs_classes_add_rule(c, "cgroup=/user.slice/job -> lc", NULL), 0);
	expect(c, &user, "lc", GPUSCHED_SRC_RULE);
	gs_classes_free(c);

	c = fresh();
	assert_int_equal(gs_classes_add_rule(c, "comm=server -> lc", NULL), 0);
	assert_int_equal(gs_classes_allow(c, "lc uid=1000", NULL), 0);
	expect(c, &user, "lc", GPUSCHED_SRC_RULE);
	gs_classes_free(c);
}

/* Anybody can open a graphics context, so kind= raises no more than comm= does. */
static void kinds_of_programs(void **state)
{
	struct gs_facts f = process(1000, "shell");
	struct gs_class_losers l = { 0 };
	struct gs_class_answer a;
	struct gs_classes *c = fresh();

	(void)state;
	assert_int_equal(gs_classes_add_rule(c, "kind=graphics -> lc", NULL), 0);
	assert_int_equal(gs_classes_add_rule(c, "kind=graphics exe=/usr/bin/shell -> lc", NULL), 0);
	f.program = GPUSCHED_IS_GRAPHICS;
	gs_classify_facts(c, &f, &a, &l);
	assert_int_equal(a.class_id, GPUSCHED_CLASS_NONE);
	assert_non_null(strstr(a.why, "rule 'kind=graphics -> lc' passed over: what its owner "
				      "chooses cannot raise it"));
	assert_int_equal(gs_classes_add_rule(c, "kind=compute -> be", NULL), 0);
	assert_int_equal(
		gs_classes_add_rule(c, "kind=graphics exe=/usr/bin/shell uid=1000 -> lc", NULL), 0);
	expect(c, &f, "lc", GPUSCHED_SRC_RULE);
	f.uid = 1001;
	expect(c, &f, "none", GPUSCHED_SRC_DEFAULT);
	f.uid = 1000;
	f.program = GPUSCHED_IS_COMPUTE;
	expect(c, &f, "be", GPUSCHED_SRC_RULE);
	f.program = GPUSCHED_IS_UNKNOWN; /* no TSG yet */
	expect(c, &f, "none", GPUSCHED_SRC_DEFAULT);
	gs_classes_free(c);
}

static void a_containers_root_raises_nothing(void **state)
{
	struct gs_facts f = process(0, "server");
	struct gs_asker by = { .uid = 0, .in_group = is_gid, .self = &(gid_t){ 0 } };
	struct gs_class_answer a;
	struct gs_classes *c = fresh();

	(void)state;
	f.root = GS_ROOT_CONTAINERS;
	assert_int_equal(gs_classes_add_rule(c, "comm=server -> lc", NULL), 0);
	assert_int_equal(gs_classes_add_rule(c, "uid=0 -> lc", NULL), 0);
	assert_int_equal(gs_classes_allow(c, "lc uid=0", NULL), 0);
	expect(c, &f, "none", GPUSCHED_SRC_DEFAULT);
	gs_classify_facts(c, &f, &a, NULL);
	assert_true(a.root_passed);
	assert_non_null(strstr(a.why, "rule 'comm=server -> lc' passed over: a container's root "
				      "chose it; use cgroup= or namespace="));
	f.root = GS_ROOT_UNKNOWN;
	expect(c, &f, "none", GPUSCHED_SRC_DEFAULT);
	assert_false(gs_class_may(c, &by, 0, GPUSCHED_CLASS_NORMAL, GPUSCHED_CLASS_LC));
	assert_false(gs_class_may(c, &by, 1000, GPUSCHED_CLASS_LC, GPUSCHED_CLASS_BE));
	f.root = GS_ROOT_MACHINES;
	expect(c, &f, "lc", GPUSCHED_SRC_RULE);
	gs_classes_free(c);

	/* what the administrator or the cluster has chosen still raises it */
	c = fresh();
	f.root = GS_ROOT_CONTAINERS;
	assert_int_equal(gs_classes_add_rule(c, "cgroup=/user.slice/job -> train", NULL), 0);
	expect(c, &f, "train", GPUSCHED_SRC_RULE);
	gs_classes_free(c);
	c = fresh(); /* not what it makes itself */
	f.cgroups[0].owners = true;
	snprintf(f.cgroups[0].attr, sizeof(f.cgroups[0].attr), "lc");
	assert_int_equal(gs_classes_add_rule(c, "cgroup=*/inner -> lc", NULL), 0);
	expect(c, &f, "none", GPUSCHED_SRC_DEFAULT);
	f.cgroups[0].attr[0] = '\0';
	assert_int_equal(gs_classes_add_rule(c, "cgroup=/user.slice/* -> lc", NULL), 0);
	expect(c, &f, "lc", GPUSCHED_SRC_RULE); /* the folder above it matches as well */
	gs_classes_free(c);
	c = fresh();
	snprintf(f.pod.namespace, sizeof(f.pod.namespace), "web");
	assert_int_equal(gs_classes_add_rule(c, "comm=server namespace=web -> lc", NULL), 0);
	expect(c, &f, "lc", GPUSCHED_SRC_RULE);
	gs_classes_free(c);
}

static void test_attribute(void **state)
{
	struct gs_classes *c = fresh();
	struct gs_facts f = process(1000, "python3");

	(void)state;
	assert_int_equal(gs_classes_add_rule(c, "uid=1000 -> normal", NULL), 0);
	snprintf(f.cgroups[2].attr, sizeof(f.cgroups[2].attr), "lc"); /* root's cgroup */
	expect(c, &f, "lc", GPUSCHED_SRC_CGROUP);
	/* a nearer cgroup, also root's */
	snprintf(f.cgroups[1].attr, sizeof(f.cgroups[1].attr), "train");
	expect(c, &f, "train", GPUSCHED_SRC_CGROUP);
	/* the user's own cgroup; the class is lower, so it counts */
	snprintf(f.cgroups[0].attr, sizeof(f.cgroups[0].attr), "be");
	expect(c, &f, "be", GPUSCHED_SRC_CGROUP);
	/* the user's own cgroup; the class would be a raise, so it is ignored */
	snprintf(f.cgroups[0].attr, sizeof(f.cgroups[0].attr), "lc");
	expect(c, &f, "train", GPUSCHED_SRC_CGROUP);
	f.cgroups[1].attr[0] = f.cgroups[2].attr[0] = '\0';
	expect(c, &f, "normal", GPUSCHED_SRC_RULE);
	snprintf(f.cgroups[1].attr, sizeof(f.cgroups[1].attr), "nosuch");
	expect(c, &f, "normal", GPUSCHED_SRC_RULE);
	gs_classes_free(c);
}

/*
 * A class of lower rank still counts as a raise if its request takes GPU time from others, so users
 * may not take it.
 */
static void test_a_class_with_a_request(void **state)
{
	const struct gpusched_class wrong = { .weight = 100, .request_pct = 60, .limit_pct = 50 };
	const struct gpusched_class team = { .weight = 1, .request_pct = 50 };
	struct gs_facts f = process(1000, "python3");
	struct gs_classes *c = fresh();
	uint32_t id = 0;

	(void)state;
	assert_int_equal(gs_classes_add(c, "wrong", &wrong, NULL), -EINVAL);
	assert_int_equal(gs_classes_add(c, "team", &team, NULL), 0);
	gs_class_id(c, "team", &id);
	assert_int_equal(gs_classes_set_default(c, "normal", NULL), 0);
	assert_false(may(c, 1000, 1000, 1000, GPUSCHED_CLASS_NORMAL, id));
	assert_true(may(c, 1000, 1000, 1000, id, GPUSCHED_CLASS_BE));
	snprintf(f.cgroups[0].attr, sizeof(f.cgroups[0].attr), "team"); /* the user's cgroup */
	expect(c, &f, "normal", GPUSCHED_SRC_DEFAULT);
	snprintf(f.cgroups[1].attr, sizeof(f.cgroups[1].attr), "team"); /* root's cgroup */
	expect(c, &f, "team", GPUSCHED_SRC_CGROUP);
	assert_int_equal(gs_classes_allow(c, "lc uid=1000", NULL), 0);
	assert_false(may(c, 1000, 1000, 1000, GPUSCHED_CLASS_NORMAL, id));
	assert_int_equal(gs_classes_allow(c, "team uid=1000", NULL), 0);
	assert_true(may(c, 1000, 1000, 1000, GPUSCHED_CLASS_NORMAL, id));
	gs_classes_free(c);
}

/* Only root may move a program from a class with a limit to one with a higher limit or none. */
static void test_a_class_with_a_limit(void **state)
{
	const struct gpusched_class third = { .weight = 1, .limit_pct = 30 };
	const struct gpusched_class fifth = { .weight = 1, .limit_pct = 20 };
	struct gs_classes *c = fresh();
	uint32_t a = 0, b = 0;

	(void)state;
	assert_int_equal(gs_classes_add(c, "third", &third, NULL), 0);
	assert_int_equal(gs_classes_add(c, "fifth", &fifth, NULL), 0);
	gs_class_id(c, "third", &a);
	gs_class_id(c, "fifth", &b);
	assert_false(may(c, 1000, 1000, 1000, a, GPUSCHED_CLASS_BE));
	assert_true(may(c, 1000, 1000, 1000, a, b));
	assert_false(may(c, 1000, 1000, 1000, b, a));
	assert_true(may(c, 0, 0, 1000, a, GPUSCHED_CLASS_BE));
	gs_classes_free(c);
}

static void test_own_process(void **state)
{
	struct gs_class_answer a;
	struct gs_error err = { 0 };
	struct gs_classes *c = fresh();
	struct gs_facts f;
	char rule[64];

	(void)state;
	assert_int_equal(gs_facts_read(getpid(), &f, NULL), 0);
	assert_int_equal(f.uid, getuid());
	assert_string_equal(f.comm, "test_classify");
	assert_int_equal(f.nargs, 0);
	gs_facts_read_program(&f);
	assert_false(f.unread);
	assert_non_null(strstr(f.exe, "/test_classify"));
	assert_true(f.nargs > 0);
	snprintf(rule, sizeof(rule), "comm=test_class* uid=%u -> be", getuid());
	assert_int_equal(gs_classes_add_rule(c, rule, NULL), 0);
	assert_int_equal(gs_classify(c, NULL, getpid(), &a, NULL), 0);
	assert_int_equal(a.class_id, GPUSCHED_CLASS_BE);
	assert_int_equal(gs_classify(c, NULL, 0x7ffffff0, &a, &err), -ESRCH);
	assert_non_null(strstr(err.text, "no process"));
	gs_classes_free(c);
}

/* ---- jobs ------------------------------------------------------------------------------------ */

#define LOGIN "/user.slice/user-1000.slice/session-3.scope"

/* Returns a process of user 1000, in the session whose leader is process 100. */
static struct gs_kin kin(pid_t pid, pid_t group)
{
	struct gs_kin k = { .pid = pid, .group = group, .session = 100, .uid = 1000 };

	snprintf(k.cgroup, sizeof(k.cgroup), "%s", LOGIN);
	return k;
}

/* Sets up[] to a training and its ancestors: its launcher, a shell, sshd. */
static void ssh(struct gs_kin up[4])
{
	up[0] = kin(300, 200);
	up[1] = kin(200, 200);
	up[2] = kin(100, 100);
	up[2].shell = true;
	up[3] = kin(90, 90);
	up[3].session = 90;
}

static void test_job_tree(void **state)
{
	struct gs_kin up[4];

	(void)state;
	ssh(up);
	assert_int_equal(gs_job_root(up, 4), 200);
	assert_int_equal(gs_job_root(up + 1, 3), 200);
	assert_int_equal(gs_job_root(up, 1), 300);
	up[0].session = up[0].group = 300; /* a worker that leads a new session */
	assert_int_equal(gs_job_root(up, 4), 200);
	ssh(up);
	up[1].group = up[0].group = 100; /* no job control: a script leads the session */
	assert_int_equal(gs_job_root(up, 4), 90);
	up[3].uid = 0;
	assert_int_equal(gs_job_root(up, 4), 100);
	snprintf(up[1].cgroup, sizeof(up[1].cgroup), "/init.scope");
	assert_int_equal(gs_job_root(up, 4), 300);
	ssh(up);
	up[2].shell = false; /* a launcher whose workers lead new process groups */
	assert_int_equal(gs_job_root(up, 4), 90);
	assert_true(gs_job_is_shell("bash") && gs_job_is_shell("zsh"));
	assert_false(gs_job_is_shell("") || gs_job_is_shell("mpirun") ||
		     gs_job_is_shell("python3"));
}

static void test_job_command(void **state)
{
	struct gs_kin up[4];

	(void)state;
	ssh(up);
	up[0].commanded = true;
	assert_int_equal(gs_job_root(up, 4), 300);
	up[1].commanded = true;
	up[0].uid = 1001; /* its uid has changed */
	assert_int_equal(gs_job_root(up, 4), 200);
	up[2].commanded = true; /* the shell was given a class */
	assert_int_equal(gs_job_root(up, 4), 100);
	up[0].commanded = false;
	up[0].uid = 1000;
	assert_int_equal(gs_job_root(up, 4), 200);
}

static void test_job_cgroups(void **state)
{
	static const char *const shared[] = { "",
					      "/",
					      LOGIN,
					      "/user.slice/user@7.service/init.scope",
					      "/a/tmux-spawn-1.scope",
					      "/a/vte-spawn-1.scope",
					      "/system.slice/gpuschedd.service" };
	static const char *const own[] = { "/system.slice/train.service", "/a/run-r1.scope",
					   "/kubepods/pod1/c1", LOGIN "/inner",
					   "/system.slice/gpuschedd.service/x" };

	(void)state;
	for (size_t i = 0; i < sizeof(shared) / sizeof(*shared); i++)
		assert_true(gs_job_shares(shared[i], "/system.slice/gpuschedd.service"));
	for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++)
		assert_false(gs_job_shares(own[i], "/system.slice/gpuschedd.service"));
}

#define MANAGER "/user.slice/user-1000.slice/user@1000.service"
#define LIBPOD "libpod-0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef.scope"

/* Whether a scope is looked into; what is in it then decides. */
static void test_job_terminals(void **state)
{
	static const char *const looked[] = {
		MANAGER "/app.slice/app-org.kde.konsole-41769.scope",
		MANAGER "/app.slice/app-org.kde.konsole-41769.scope/tab(42253).scope",
		MANAGER "/app.slice/app-Hyprland-kitty-4711.scope",
		MANAGER "/app.slice/ptyxis-spawn-75bc72bd-6642-4cf5-b62c-0674e11bfc84.scope",
		MANAGER "/app.slice/kitty-1234-0.scope",
		MANAGER
		"/app.slice/snap.alacritty.alacritty-1f0fcd9c-8d0a-4b1d-8a7e-0123456789ab.scope",
		MANAGER "/app.slice/run-r0123456789abcdef.scope",
		MANAGER "/app.slice/training.scope",
		"/lxc.payload.gpu1" MANAGER "/app.slice/kitty-1.scope",
	};
	static const char *const one[] = {
		MANAGER "/app.slice/training.service",
		MANAGER "/app.slice/app-foot@4711.service",
		MANAGER "/user.slice/" LIBPOD,
		MANAGER "/user.slice/" LIBPOD "/container",
		MANAGER "/app.slice/podman-123.scope/libpod-payload-1",
		"/system.slice/run-r1.scope",
		"/user.slice/user-1000.slice/run-r1.scope",
		"/user@1000.servicex/a.scope",
		"/user@.service/a.scope",
		"/xuser@1000.service/a.scope",
		"/user@1x.service/a.scope",
		"/user@1000.service",
		"/a.scope",
		"/.scope",
		"",
	};

	(void)state;
	for (size_t i = 0; i < GS_COUNT(looked); i++)
		assert_true(gs_job_may_share(looked[i]));
	for (size_t i = 0; i < GS_COUNT(one); i++)
		assert_false(gs_job_may_share(one[i]));
}

/* This process has its parent's job, since nothing has given it another one. */
static void test_job_of(void **state)
{
	uint64_t ours = gs_job_of(NULL, getpid());

	(void)state;
	assert_true(ours != 0);
	if (ours & GS_JOB_PROCESS)
		assert_true(gs_job_of(NULL, getppid()) == ours ||
			    ours == (GS_JOB_PROCESS | (uint64_t)getpid()));
	else
		assert_true(ours == gs_cgroup_of(getpid()));
	assert_true(gs_job_of(NULL, 0x7ffffff0) == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),
		cmocka_unit_test(losers_come_in_their_order),
		cmocka_unit_test(test_order_and_may),
		cmocka_unit_test(test_rule_errors),
		cmocka_unit_test(test_rules),
		cmocka_unit_test(a_comm_that_is_cut),
		cmocka_unit_test(test_never_raises),
		cmocka_unit_test(kinds_of_programs),
		cmocka_unit_test(a_containers_root_raises_nothing),
		cmocka_unit_test(test_attribute),
		cmocka_unit_test(test_own_process),
		cmocka_unit_test(test_a_class_with_a_request),
		cmocka_unit_test(test_a_class_with_a_limit),
		cmocka_unit_test(test_job_tree),
		cmocka_unit_test(test_job_command),
		cmocka_unit_test(test_job_cgroups),
		cmocka_unit_test(test_job_terminals),
		cmocka_unit_test(rules_that_wait_hold_later_ones_down),
		cmocka_unit_test(lines_that_wait_for_a_name),
		cmocka_unit_test(rules_that_came_near),
		cmocka_unit_test(exe_by_a_link),
		cmocka_unit_test(test_job_of),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
