// SPDX-License-Identifier: MIT
/* test_words.c - check the effect of pods' annotations: rules, ceilings, mistakes */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "classify/priv.h"
#include "classify/words.h"

#define UID "6f7d3c5e-0a1b-4c2d-8e9f-0123456789ab"
#define OTHER "7a7d3c5e-0a1b-4c2d-8e9f-0123456789ab"

static struct gs_classes *fresh(void)
{
	const struct gpusched_class heavy = { .weight = 500 };
	const struct gpusched_class half = { .weight = 100, .limit_pct = 50 };
	struct gs_classes *c = NULL;

	assert_int_equal(gs_classes_new(&c), 0);
	assert_int_equal(gs_classes_add(c, "train", &heavy, NULL), 0);
	assert_int_equal(gs_classes_add(c, "half", &half, NULL), 0);
	return c;
}

static struct gs_pod_words pod(const char *uid, const char *namespace)
{
	struct gs_pod_words w = { .weight = 0 };

	snprintf(w.who.uid, sizeof(w.who.uid), "%s", uid);
	snprintf(w.who.namespace, sizeof(w.who.namespace), "%s", namespace);
	snprintf(w.who.pod, sizeof(w.who.pod), "p-0");
	return w;
}

static struct gs_words_given judge(const struct gs_classes *c, const char *words, uint32_t from)
{
	struct gs_pod_words w = pod(UID, "web");
	struct gs_words_given g;
	char copy[256], *save = NULL;

	snprintf(copy, sizeof(copy), "%s", words);
	for (char *at = strtok_r(copy, " ", &save); at; at = strtok_r(NULL, " ", &save))
		gs_words_read(&w, at);
	gs_words_judge(c, &w, from, &g);
	return g;
}

static void without_a_ceiling_a_pod_only_lowers(void **state)
{
	struct gs_classes *c = fresh();
	struct gs_words_given g;

	(void)state;
	g = judge(c, "class=lc weight=101 request=10 limit=30", GPUSCHED_CLASS_BE);
	assert_int_equal(g.class_id, GPUSCHED_CLASS_BE);
	assert_int_equal(g.weight, 0);
	assert_int_equal(g.request_pct, 0);
	assert_int_equal(g.limit_pct, 30);
	assert_string_equal(g.left, "class lc is over its ceiling, weight 101 is over its ceiling, "
				    "request 10 is over its ceiling");
	g = judge(c, "class=be weight=50", GPUSCHED_CLASS_LC);
	assert_int_equal(g.class_id, GPUSCHED_CLASS_BE);
	assert_int_equal(g.weight, 50);
	assert_string_equal(g.left, "");
	g = judge(c, "", GPUSCHED_CLASS_LC); /* a rule gave this class */
	assert_int_equal(g.class_id, GPUSCHED_CLASS_LC);
	g = judge(c, "class=normal", GPUSCHED_CLASS_BE);
	assert_int_equal(g.class_id, GPUSCHED_CLASS_BE);
	gs_classes_free(c);
}

static void a_ceiling_allows_by_namespace(void **state)
{
	struct gs_classes *c = fresh();
	struct gs_error err = { 0 };
	struct gs_words_given g;

	(void)state;
	assert_int_equal(gs_words_add_ceiling(c, "bank lc", &err), 0);
	g = judge(c, "class=lc", GPUSCHED_CLASS_BE);
	assert_int_equal(g.class_id, GPUSCHED_CLASS_BE);
	assert_int_equal(gs_words_add_ceiling(c, "we* lc weight=300 request=20", &err), 0);
	assert_int_equal(gs_words_add_ceiling(c, "* be", &err), 0);
	g = judge(c, "class=lc weight=300 request=20", GPUSCHED_CLASS_BE);
	assert_int_equal(g.class_id, GPUSCHED_CLASS_LC);
	assert_int_equal(g.weight, 300);
	assert_int_equal(g.request_pct, 20);
	assert_string_equal(g.left, "");
	g = judge(c, "class=train weight=301 request=21", GPUSCHED_CLASS_BE);
	assert_string_equal(gs_class_name(c, g.class_id), "train");
	assert_int_equal(g.weight, 301); /* the limit is the class's own weight, 500 */
	assert_int_equal(g.request_pct, 0);
	g = judge(c, "class=lc weight=301", GPUSCHED_CLASS_BE);
	assert_int_equal(g.weight, 0);
	g = judge(c, "limit=10 request=20", GPUSCHED_CLASS_BE);
	assert_int_equal(g.request_pct, 0);
	assert_string_equal(g.left, "request 20 is more than its limit");
	g = judge(c, "class=half limit=90", GPUSCHED_CLASS_BE);
	assert_int_equal(g.limit_pct, 0);
	assert_string_equal(g.left, "its class has a limit");
	gs_classes_free(c);
}

static void a_wrong_ceiling_is_told(void **state)
{
	static const char *const wrong[] = { "web",
					     "web nosuch",
					     "web lc weight=0",
					     "web lc x=1",
					     "web lc request=101",
					     "web lc weight",
					     "web lc timeslice=0" };
	struct gs_classes *c = fresh();

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		struct gs_error err = { 0 };

		assert_true(gs_words_add_ceiling(c, wrong[i], &err) < 0);
		assert_true(err.text[0] != '\0');
	}
	assert_int_equal(c->nceilings, 0);
	gs_classes_free(c);
}

static void words_that_are_not_known_are_left_out(void **state)
{
	static const char *const wrong[] = { "class=",    "class",      "weight=0",  "weight=10001",
					     "weight=1x", "limit=0",    "limit=101", "request=-1",
					     "clas=lc",   "classy=lc",  "",          "=",
					     "weight=",   "request=1.5" };
	struct gs_classes *c = fresh();
	char longest[200];

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		struct gs_pod_words w = pod(UID, "web");
		struct gs_words_given g;

		gs_words_read(&w, wrong[i]);
		assert_int_equal(w.weight + w.limit_pct + w.request_pct + *w.class_name, 0);
		gs_words_judge(c, &w, GPUSCHED_CLASS_BE, &g);
		assert_int_equal(g.class_id, GPUSCHED_CLASS_BE);
		assert_true(*g.left || !*wrong[i]);
	}
	memset(longest, 'a', sizeof(longest));
	memcpy(longest, "class=", 6);
	longest[sizeof(longest) - 1] = '\0';
	assert_int_equal(judge(c, longest, GPUSCHED_CLASS_BE).class_id, GPUSCHED_CLASS_BE);
	assert_string_equal(judge(c, "class=none", GPUSCHED_CLASS_BE).left,
			    "there is no class none");
	gs_classes_free(c);
}

static void pods_come_and_go(void **state)
{
	struct gs_pod_words w = pod(UID, "web"), bad = pod("../etc", "web");
	struct gs_classes *c = fresh(), *later = fresh();

	(void)state;
	assert_int_equal(gs_words_put(c, &w), 1);
	assert_int_equal(gs_words_put(c, &w), 0);
	w.limit_pct = 30;
	assert_int_equal(gs_words_put(c, &w), 1);
	assert_int_equal(c->nparts, 1);
	assert_int_equal(gs_words_put(c, &bad), -EINVAL);
	bad = pod(OTHER, "Web");
	assert_int_equal(gs_words_put(c, &bad), -EINVAL);
	bad = pod(OTHER, "");
	assert_int_equal(gs_words_put(c, &bad), -EINVAL);
	gs_words_move(later, c);
	assert_null(gs_words_of(c, UID));
	assert_int_equal(gs_words_of(later, UID)->limit_pct, 30);
	assert_int_equal(later->nparts, 1);
	assert_false(gs_words_drop(later, OTHER));
	assert_true(gs_words_drop(later, UID));
	assert_int_equal(later->nparts, 0);
	assert_null(gs_words_next(later, NULL));
	gs_classes_free(c);
	gs_classes_free(later);
}

static void there_is_a_most_of_pods(void **state)
{
	struct gs_classes *c = fresh();
	struct gs_pod_words w = pod(UID, "web");

	(void)state;
	for (int i = 0; i < GS_WORDS_PODS; i++) {
		snprintf(w.who.uid, sizeof(w.who.uid), "%032x", i);
		assert_int_equal(gs_words_put(c, &w), 1);
	}
	snprintf(w.who.uid, sizeof(w.who.uid), "%032x", GS_WORDS_PODS);
	assert_int_equal(gs_words_put(c, &w), -ENOSPC);
	snprintf(w.who.uid, sizeof(w.who.uid), "%032x", 0);
	w.weight = 7;
	assert_int_equal(gs_words_put(c, &w), 1);
	gs_classes_free(c);
}

static void expect(struct gs_classes *c, const struct gs_facts *f, uint32_t class_id,
		   enum gpusched_class_source source, uint32_t weight, const char *why)
{
	struct gs_class_answer a;

	gs_classify_facts(c, f, &a, NULL);
	assert_int_equal(a.class_id, class_id);
	assert_int_equal(a.source, source);
	assert_int_equal(a.weight, weight);
	assert_non_null(strstr(a.why, why));
}

static void processes_get_what_their_pod_is_given(void **state)
{
	struct gs_facts f = { .pid = 7, .uid = 1000, .gid = 1000, .comm = "python3" };
	struct gs_pod_words w = pod(UID, "web");
	struct gs_classes *c = fresh();

	(void)state;
	strcpy(f.pod.uid, UID);
	expect(c, &f, GPUSCHED_CLASS_NONE, GPUSCHED_SRC_DEFAULT, 100, "default");
	gs_words_put(c, &w);
	expect(c, &f, GPUSCHED_CLASS_BE, GPUSCHED_SRC_RULE, 100, "pod web/p-0");
	gs_words_read(&w, "class=lc");
	gs_words_read(&w, "weight=70");
	gs_words_put(c, &w);
	expect(c, &f, GPUSCHED_CLASS_BE, GPUSCHED_SRC_RULE, 70, "class lc is over its ceiling");
	gs_words_add_ceiling(c, "web lc", NULL);
	expect(c, &f, GPUSCHED_CLASS_LC, GPUSCHED_SRC_RULE, 70, "asks for it by an annotation");
	assert_int_equal(gs_classes_add_rule(c, "uid=1000 -> normal", NULL), 0);
	expect(c, &f, GPUSCHED_CLASS_LC, GPUSCHED_SRC_RULE, 70, "annotation");
	w.class_name[0] = '\0';
	gs_words_put(c, &w);
	expect(c, &f, GPUSCHED_CLASS_NORMAL, GPUSCHED_SRC_RULE, 70, "rule 1");
	strcpy(f.cgroups[0].attr, "be");
	f.ncgroups = 1;
	expect(c, &f, GPUSCHED_CLASS_BE, GPUSCHED_SRC_CGROUP, 100, "user.gpusched.class");
	strcpy(f.pod.uid, OTHER);
	f.ncgroups = 0;
	expect(c, &f, GPUSCHED_CLASS_NORMAL, GPUSCHED_SRC_RULE, 100, "rule 1");
	gs_classes_free(c);
}

static void a_process_outside_has_no_part(void **state)
{
	const struct gs_pod_names in = { .uid = UID }, outside = { 0 }, other = { .uid = OTHER };
	struct gs_pod_words w = pod(UID, "web");
	struct gs_classes *c = fresh();
	struct gs_words_given g;

	(void)state;
	w.limit_pct = 30;
	gs_words_put(c, &w);
	assert_int_equal(gs_words_part(c, &outside, GPUSCHED_CLASS_BE, &g), 0);
	assert_int_equal(g.limit_pct, 0);
	assert_int_equal(gs_words_part(c, &other, GPUSCHED_CLASS_BE, &g), 0);
	assert_int_not_equal(gs_words_part(c, &in, GPUSCHED_CLASS_BE, &g), 0);
	assert_int_equal(g.limit_pct, 30);
	gs_classes_free(c);
}

/*
 * ---- other programs' words --------------------------------------------------------------------
 */

static struct gs_facts in_container(const char *id, const struct gs_pod_asks *asks)
{
	struct gs_facts f = { .pid = 1, .uid = 1000, .gid = 1000, .comm = "app" };

	snprintf(f.pod.uid, sizeof(f.pod.uid), "%s", UID);
	snprintf(f.pod.id, sizeof(f.pod.id), "%s", id);
	snprintf(f.pod.namespace, sizeof(f.pod.namespace), "web");
	snprintf(f.pod.pod, sizeof(f.pod.pod), "p-0");
	f.pod.asks = *asks;
	return f;
}

static struct gs_class_answer answer_of(const struct gs_classes *c, const struct gs_facts *f)
{
	struct gs_class_answer a;

	gs_classify_facts(c, f, &a, NULL);
	return a;
}

static void a_container_asks_in_its_environment(void **state)
{
	const struct gs_pod_asks high = { .class_name = "lc", .limit_pct = 30, .request_pct = 20 };
	struct gs_facts f = in_container("a1", &high), g = in_container("a2", &high);
	struct gs_classes *c = fresh();
	struct gs_class_answer a;

	(void)state;
	expect(c, &f, GPUSCHED_CLASS_BE, GPUSCHED_SRC_RULE, 100, "class lc is over its ceiling");
	a = answer_of(c, &f);
	assert_int_equal(a.grants.part[GS_LIMIT].pct, 30); /* a limit only lowers */
	assert_int_equal(a.grants.part[GS_REQUEST].pct, 0);
	assert_true(a.grants.part[GS_LIMIT].group !=
		    answer_of(c, &g).grants.part[GS_LIMIT].group); /* a limit per container */
	assert_int_equal(gs_words_add_ceiling(c, "web lc request=20", NULL), 0);
	expect(c, &f, GPUSCHED_CLASS_LC, GPUSCHED_SRC_RULE, 100, "asks for it in its environment");
	assert_int_equal(answer_of(c, &f).grants.part[GS_REQUEST].pct, 20);
	f.pod.uid[0] = '\0'; /* a user's own cgroup, whose environment any user can choose */
	a = answer_of(c, &f);
	assert_int_not_equal(a.class_id, GPUSCHED_CLASS_LC);
	assert_int_equal(a.grants.part[GS_LIMIT].pct, 0);
	gs_classes_free(c);
}

static void annotations_come_before_the_environment(void **state)
{
	const struct gs_pod_asks high = { .class_name = "lc", .weight = 40, .limit_pct = 30 };
	struct gs_facts f = in_container("a1", &high);
	struct gs_pod_words w = pod(UID, "web");
	struct gs_classes *c = fresh();

	(void)state;
	gs_words_add_ceiling(c, "web lc", NULL);
	gs_words_read(&w, "class=be");
	gs_words_read(&w, "limit=60");
	gs_words_put(c, &w);
	expect(c, &f, GPUSCHED_CLASS_BE, GPUSCHED_SRC_RULE, 40, "asks for it by an annotation");
	assert_int_equal(answer_of(c, &f).grants.part[GS_LIMIT].pct, 60);
	gs_classes_free(c);
}

/* A pod whose words set only a slice, and for which no class was given, keeps its class. */
static void a_slice_changes_no_class(void **state)
{
	const struct gs_pod_asks brief = { .slice_us = 1000 };
	struct gs_facts f = in_container("a1", &brief);
	struct gs_classes *c = fresh();

	(void)state;
	assert_int_equal(gs_classes_set_default(c, "normal", NULL), 0);
	expect(c, &f, GPUSCHED_CLASS_NORMAL, GPUSCHED_SRC_DEFAULT, 100, "default class normal");
	assert_int_equal(answer_of(c, &f).slice_us, 1000);
	gs_classes_free(c);
}

static void a_long_slice_needs_a_ceiling(void **state)
{
	struct gs_pod_asks slow = { .slice_us = 8000 };
	struct gs_facts f = in_container("a1", &slow);
	struct gs_classes *c = fresh();

	(void)state;
	assert_int_equal(answer_of(c, &f).slice_us, 0);
	assert_non_null(strstr(answer_of(c, &f).why, "timeslice 8000 us is over its ceiling"));
	f.pod.asks.slice_us = 2000;
	assert_int_equal(answer_of(c, &f).slice_us, 2000);
	f.pod.asks = (struct gs_pod_asks){ .slice_us = 8000, .slice_by_admin = true };
	assert_int_equal(answer_of(c, &f).slice_us, 8000); /* its device class says so */
	gs_words_no_slices(c, "a restore");
	assert_int_equal(answer_of(c, &f).slice_us, 0);
	assert_non_null(strstr(answer_of(c, &f).why, "is off until a reload, after a restore"));
	gs_words_no_slices(c, NULL);
	f.pod.asks.slice_by_admin = false;
	assert_int_equal(gs_words_add_ceiling(c, "bank be timeslice=1s", NULL), 0);
	assert_int_equal(answer_of(c, &f).slice_us, 0);
	assert_int_equal(gs_words_add_ceiling(c, "web be timeslice=8ms", NULL), 0);
	assert_int_equal(answer_of(c, &f).slice_us, 8000);
	gs_classes_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_ceiling_a_pod_only_lowers),
		cmocka_unit_test(a_ceiling_allows_by_namespace),
		cmocka_unit_test(a_wrong_ceiling_is_told),
		cmocka_unit_test(words_that_are_not_known_are_left_out),
		cmocka_unit_test(pods_come_and_go),
		cmocka_unit_test(there_is_a_most_of_pods),
		cmocka_unit_test(processes_get_what_their_pod_is_given),
		cmocka_unit_test(a_process_outside_has_no_part),
		cmocka_unit_test(a_container_asks_in_its_environment),
		cmocka_unit_test(annotations_come_before_the_environment),
		cmocka_unit_test(a_slice_changes_no_class),
		cmocka_unit_test(a_long_slice_needs_a_ceiling),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
