// SPDX-License-Identifier: MIT
/* test_nri.c - check the NRI plugin: messages byte by byte, hostile ones, reports to the daemon */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "nri/pods.h"
#include "nri/session.h"

/* A message in protocol buffers, encoded by hand, since the generated code is under test. */
struct bytes {
	uint8_t at[70000];
	size_t n;
};

static void add(struct bytes *b, const void *data, size_t n)
{
	assert_true(b->n + n <= sizeof(b->at));
	memcpy(b->at + b->n, data, n);
	b->n += n;
}

static void number(struct bytes *b, uint64_t v)
{
	do {
		uint8_t byte = (uint8_t)((v & 127) | (v > 127 ? 128 : 0));

		add(b, &byte, 1);
		v >>= 7;
	} while (v);
}

static void field(struct bytes *b, unsigned int id, const void *data, size_t n)
{
	number(b, id << 3 | 2);
	number(b, n);
	add(b, data, n);
}

static void text(struct bytes *b, unsigned int id, const char *s)
{
	field(b, id, s, strlen(s));
}

static void big(struct bytes *b, uint32_t v)
{
	const uint8_t four[] = { (uint8_t)(v >> 24), (uint8_t)(v >> 16), (uint8_t)(v >> 8),
				 (uint8_t)v };

	add(b, four, 4);
}

/* Adds a message of ttrpc to @b, in one piece. */
static void message(struct bytes *b, uint32_t connection, uint32_t stream, uint8_t type,
		    const struct bytes *data)
{
	big(b, connection);
	big(b, (uint32_t)(10 + data->n));
	big(b, (uint32_t)data->n);
	big(b, stream);
	add(b, (uint8_t[]){ type, 0 }, 2);
	add(b, data->at, data->n);
}

static void call(struct bytes *b, uint32_t stream, const char *method, const struct bytes *payload)
{
	struct bytes c = { .n = 0 };

	text(&c, 1, "nri.pkg.api.v1alpha1.Plugin");
	text(&c, 2, method);
	field(&c, 3, payload->at, payload->n);
	number(&c, 4 << 3); /* the field timeout_nano, which the plugin ignores */
	number(&c, 2000000000);
	message(b, 1, stream, 1, &c);
}

static void annotation(struct bytes *pod, const char *key, const char *value)
{
	struct bytes entry = { .n = 0 };

	text(&entry, 1, key);
	text(&entry, 2, value);
	field(pod, 6, entry.at, entry.n);
}

static struct bytes pod_of(const char *uid, const char *class_name)
{
	struct bytes pod = { .n = 0 };

	text(&pod, 1, "sandbox"); /* fields that the plugin ignores */
	text(&pod, 2, "p-0");
	text(&pod, 3, uid);
	text(&pod, 4, "web");
	annotation(&pod, "kubernetes.io/config.seen", "x");
	if (class_name)
		annotation(&pod, "gpusched.io/class", class_name);
	annotation(&pod, "gpusched.io/weight", "70");
	number(&pod, 9 << 3);
	number(&pod, 4711);
	return pod;
}

static void pod_call(struct bytes *b, uint32_t stream, const char *method, const char *uid,
		     const char *class_name)
{
	struct bytes payload = { .n = 0 }, pod = pod_of(uid, class_name);

	field(&payload, 1, pod.at, pod.n);
	call(b, stream, method, &payload);
}

/* ---- a session ------------------------------------------------------------------------------- */

struct world {
	struct gs_nri_session s;
	struct gs_nri_pods *pods;
};

static int begin(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	*state = w;
	return gs_nri_pods_new(&w->pods) || gs_nri_session_begin(&w->s, w->pods, "90");
}

static int end(void **state)
{
	struct world *w = *state;

	gs_nri_session_end(&w->s);
	gs_nri_pods_free(w->pods);
	free(w);
	return 0;
}

static void forget_out(struct world *w)
{
	gs_nri_frames_sent(&w->s.frames, w->s.frames.out.n);
}

/* Expects exactly one answer, with this payload in hex. */
static void expect_answer(struct world *w, uint32_t stream, const char *hex)
{
	const struct gs_nri_bytes *out = &w->s.frames.out;
	char got[256] = "";

	assert_true(out->n >= 18);
	assert_int_equal(out->at[3], 1); /* on the connection of the request */
	assert_int_equal(out->at[7], out->n - 8);
	assert_int_equal(out->at[11], out->n - 18);
	assert_int_equal(out->at[15], stream);
	assert_int_equal(out->at[16], 2);
	for (size_t i = 18; i < out->n; i++)
		snprintf(got + 2 * (i - 18), 3, "%02x", out->at[i]);
	assert_string_equal(got, hex);
	forget_out(w);
}

static void feed(struct world *w, const struct bytes *b)
{
	assert_int_equal(gs_nri_session_in(&w->s, b->at, b->n), 0);
}

static void expect_news(struct world *w, enum gs_nri_news news, const char *has)
{
	char *is = NULL;

	assert_int_equal(gs_nri_pods_news(w->pods, &is), news);
	if (has && !strstr(is, has))
		fail_msg("'%s' is not in '%s'", has, is);
	gs_nri_pods_told(w->pods, news, is);
	free(is);
}

static void it_registers(void **state)
{
	struct world *w = *state;
	static const uint8_t about[] = "\x0a\x1cnri.pkg.api.v1alpha1.Runtime\x12\x0eRegisterPlugin"
				       "\x1a\x0e\x0a\x08gpusched\x12\x02"
				       "90";
	const struct gs_nri_bytes *out = &w->s.frames.out;

	assert_int_equal(out->n, 18 + sizeof(about) - 1);
	assert_int_equal(out->at[3], 2);
	assert_int_equal(out->at[15], 1);
	assert_int_equal(out->at[16], 1);
	assert_memory_equal(out->at + 18, about, sizeof(about) - 1);
}

static void it_wants_two_events_and_no_others(void **state)
{
	struct world *w = *state;
	struct bytes b = { .n = 0 }, payload = { .n = 0 };

	text(&payload, 2, "containerd");
	call(&b, 1, "Configure", &payload);
	forget_out(w);
	feed(w, &b);
	expect_answer(w, 1, "12021005"); /* events: RunPodSandbox, RemovePodSandbox */
	assert_true(w->s.configured);
}

/* The runtime sends its list of pods in parts, as containerd and CRI-O do, also byte by byte. */
static void a_list_in_parts_is_one_list(void **state)
{
	struct world *w = *state;
	struct bytes b = { .n = 0 }, payload = { .n = 0 }, pod = pod_of("aa", "lc");

	forget_out(w);
	field(&payload, 1, pod.at, pod.n);
	text(&payload, 2, "a container");
	number(&payload, 3 << 3);
	number(&payload, 1);
	call(&b, 1, "Synchronize", &payload);
	for (size_t i = 0; i < b.n; i++) {
		assert_int_equal(gs_nri_session_in(&w->s, b.at + i, 1), 0);
		assert_int_equal(gs_nri_frames_is_torn(&w->s.frames), i + 1 < b.n);
	}
	expect_answer(w, 1, "12021001"); /* further events */
	expect_news(w, GS_NRI_SET,
		    "\"uid\":\"aa\",\"namespace\":\"web\",\"pod\":\"p-0\",\"words\":[\"class=lc\","
		    "\"weight=70\"]");
	expect_news(w, GS_NRI_NOTHING, NULL);
	b.n = payload.n = 0;
	pod = pod_of("bb", NULL);
	field(&payload, 1, pod.at, pod.n);
	call(&b, 3, "Synchronize", &payload);
	feed(w, &b);
	expect_answer(w, 3, "");
	expect_news(w, GS_NRI_SET, "\"bb\"");
	expect_news(w, GS_NRI_COMPARE, NULL);
	expect_news(w, GS_NRI_NOTHING, NULL);
}

static void both_kinds_of_runtimes_are_heard(void **state)
{
	struct world *w = *state;
	struct bytes b = { .n = 0 }, payload = { .n = 0 }, pod = pod_of("bb", "be");

	forget_out(w);
	pod_call(&b, 1, "RunPodSandbox", "aa", "lc");
	feed(w, &b);
	expect_answer(w, 1, "");
	expect_news(w, GS_NRI_SET, "class=lc");
	number(&payload, 1 << 3); /* StateChange is the only call that older runtimes make */
	number(&payload, 1);
	field(&payload, 2, pod.at, pod.n);
	b.n = 0;
	call(&b, 3, "StateChange", &payload);
	feed(w, &b);
	expect_answer(w, 3, "");
	expect_news(w, GS_NRI_SET, "class=be");
	payload.n = b.n = 0;
	number(&payload, 1 << 3);
	number(&payload, 3);
	field(&payload, 2, pod.at, pod.n);
	call(&b, 5, "StateChange", &payload);
	pod_call(&b, 7, "RemovePodSandbox", "aa", NULL);
	feed(w, &b);
	expect_news(w, GS_NRI_CLEAR, NULL);
	expect_news(w, GS_NRI_CLEAR, NULL);
	expect_news(w, GS_NRI_NOTHING, NULL);
}

/* The plugin answers no error, which could keep a container from starting. */
static void what_was_not_asked_for_is_answered_with_nothing(void **state)
{
	struct world *w = *state;
	struct bytes b = { .n = 0 }, payload = { .n = 0 };

	forget_out(w);
	text(&payload, 1, "whatever");
	call(&b, 1, "CreateContainer", &payload);
	feed(w, &b);
	expect_answer(w, 1, "");
	b.n = payload.n = 0;
	add(&payload, "\xff\xff\xff\xff", 4); /* not a protocol buffer */
	call(&b, 3, "RunPodSandbox", &payload);
	feed(w, &b);
	expect_answer(w, 3, "");
	b.n = 0;
	call(&b, 5, "RunPodSandbox", &(struct bytes){ .n = 0 }); /* a call without a pod */
	feed(w, &b);
	expect_answer(w, 5, "");
	assert_int_equal(w->s.unread, 2);
	b.n = 0;
	message(&b, 1, 7, 1, &payload);
	feed(w, &b);
	assert_true(w->s.frames.out.n > 18); /* not a call at all, so the answer is an error */
	expect_news(w, GS_NRI_NOTHING, NULL);
}

/* Annotations of KAI are translated if the pod has none of gpusched's own. */
static void words_of_others_are_translated(void **state)
{
	struct world *w = *state;
	struct bytes b = { .n = 0 }, payload = { .n = 0 }, pod = pod_of("aa", NULL);

	forget_out(w);
	annotation(&pod, "gpu-fraction", "0.5"); /* the pod has weight=70 */
	annotation(&pod, "nvidia.com/container.a.gpu-compute.request", "0.25");
	annotation(&pod, "nvidia.com/container.b.gpu-compute.request", "0.2");
	annotation(&pod, "nvidia.com/container.b.gpu-memory.request", "8Gi");
	annotation(&pod, "nvidia.com/container.c.gpu-compute.portion", "all");
	field(&payload, 1, pod.at, pod.n);
	call(&b, 1, "RunPodSandbox", &payload);
	feed(w, &b);
	expect_answer(w, 1, "");
	expect_news(w, GS_NRI_SET,
		    "\"words\":[\"nvidia.com/container.c.gpu-compute.porti=all\","
		    "\"request=25\",\"weight=70\"]");
}

static void a_refusal_is_told(void **state)
{
	struct world *w = *state;
	struct bytes b = { .n = 0 }, status = { .n = 0 }, a = { .n = 0 };

	number(&status, 1 << 3);
	number(&status, 2);
	text(&status, 2, "there is one already");
	field(&a, 1, status.at, status.n);
	message(&b, 2, 1, 2, &a);
	assert_int_equal(gs_nri_session_in(&w->s, b.at, b.n), -EACCES);
	assert_string_equal(w->s.refused, "there is one already");
}

static void lengths_that_are_forbidden_end_it(void **state)
{
	struct world *w = *state;
	struct bytes b = { .n = 0 };

	big(&b, 1);
	big(&b, GS_NRI_MESSAGE_MAX + 11);
	assert_int_equal(gs_nri_session_in(&w->s, b.at, b.n), -EPROTO);
	gs_nri_session_end(&w->s);
	b.n = 0;
	big(&b, 1);
	big(&b, 10);
	big(&b, 0xffffffff);
	big(&b, 1);
	add(&b, "\1\0", 2);
	assert_int_equal(gs_nri_session_in(&w->s, b.at, b.n), -EPROTO);
}

static void a_promise_of_bytes_costs_nothing(void **state)
{
	struct world *w = *state;
	struct bytes b = { .n = 0 };

	big(&b, 1);
	big(&b, 10 + GS_NRI_MESSAGE_MAX);
	big(&b, GS_NRI_MESSAGE_MAX);
	big(&b, 1);
	add(&b, "\1\0", 2);
	feed(w, &b);
	assert_true(gs_nri_frames_is_torn(&w->s.frames));
	assert_true(w->s.frames.in[0].room <= 4096);
}

static void other_connections_and_types_are_passed_over(void **state)
{
	struct world *w = *state;
	struct bytes b = { .n = 0 }, data = { .n = 5000 };

	forget_out(w);
	message(&b, 7, 1, 1, &data);
	message(&b, 1, 1, 3, &data);
	message(&b, 2, 9, 1, &data);
	pod_call(&b, 1, "RunPodSandbox", "aa", "lc");
	feed(w, &b);
	expect_answer(w, 1, "");
	expect_news(w, GS_NRI_SET, "\"aa\"");
}

/* The peer reads no answers, and goes on asking. */
static void answers_that_nobody_reads_are_not_kept_for_ever(void **state)
{
	struct world *w = *state;
	struct bytes b = { .n = 0 };
	int r = 0;

	call(&b, 1, "StopContainer", &(struct bytes){ .n = 0 });
	for (int i = 0; !r && i < 1000000; i++)
		r = gs_nri_session_in(&w->s, b.at, b.n);
	assert_int_equal(r, -EMSGSIZE);
	assert_true(w->s.frames.out.n < 2u << 20);
}

/* ---- reports to the daemon ------------------------------------------------------------------- */

static int put(struct world *w, const char *uid, const char *word)
{
	struct gs_nri_pod p = { .uid = uid, .namespace = "web", .name = "p", .nwords = 1 };

	snprintf(p.words[0], sizeof(p.words[0]), "%s", word);
	return gs_nri_pods_put(w->pods, &p);
}

static void another_daemon_hears_it_all_again(void **state)
{
	struct world *w = *state;

	put(w, "aa", "class=lc");
	expect_news(w, GS_NRI_SET, "aa");
	put(w, "aa", "class=lc");
	expect_news(w, GS_NRI_NOTHING, NULL);
	gs_nri_pods_daemon(w->pods, 7);
	expect_news(w, GS_NRI_SET, "aa");
	/* no pod is removed before the runtime has listed its pods */
	expect_news(w, GS_NRI_NOTHING, NULL);
	gs_nri_pods_complete(w->pods);
	expect_news(w, GS_NRI_COMPARE, NULL);
	gs_nri_pods_daemon(w->pods, 7);
	expect_news(w, GS_NRI_NOTHING, NULL);
	gs_nri_pods_daemon(w->pods, 0);
	gs_nri_pods_daemon(w->pods, 8);
	expect_news(w, GS_NRI_SET, "aa");
	expect_news(w, GS_NRI_COMPARE, NULL);
}

static void another_list_ends_those_that_are_not_in_it(void **state)
{
	struct world *w = *state;

	put(w, "aa", "class=lc");
	put(w, "bb", "class=lc");
	expect_news(w, GS_NRI_SET, NULL);
	expect_news(w, GS_NRI_SET, NULL);
	gs_nri_pods_begin(w->pods); /* the runtime was lost: pods stay until its new list */
	expect_news(w, GS_NRI_NOTHING, NULL);
	put(w, "bb", "class=lc");
	gs_nri_pods_complete(w->pods);
	assert_false(gs_nri_pods_has(w->pods, "aa"));
	assert_true(gs_nri_pods_has(w->pods, "bb"));
	expect_news(w, GS_NRI_CLEAR, "aa");
	expect_news(w, GS_NRI_COMPARE, NULL);
	expect_news(w, GS_NRI_NOTHING, NULL);
}

static void news_that_came_meanwhile_are_not_lost(void **state)
{
	struct world *w = *state;
	char *first = NULL, *second = NULL;

	put(w, "aa", "class=lc");
	assert_int_equal(gs_nri_pods_news(w->pods, &first), GS_NRI_SET);
	put(w, "aa", "class=be");
	gs_nri_pods_told(w->pods, GS_NRI_SET, first);
	assert_int_equal(gs_nri_pods_news(w->pods, &second), GS_NRI_SET);
	assert_non_null(strstr(second, "class=be"));
	gs_nri_pods_drop(w->pods, "aa");
	gs_nri_pods_told(w->pods, GS_NRI_SET, second);
	expect_news(w, GS_NRI_CLEAR, "aa");
	expect_news(w, GS_NRI_NOTHING, NULL);
	free(first);
	free(second);
}

static void pods_that_cannot_be_are_left_out(void **state)
{
	struct world *w = *state;
	char uid[200], word[] = "class=\xff";
	struct gs_nri_pod bad = { .uid = "aa", .namespace = word, .name = "p" };

	assert_int_equal(put(w, "", "class=lc"), -EINVAL);
	assert_int_equal(gs_nri_pods_put(w->pods, &bad), -EINVAL);
	assert_int_equal(put(w, "0", word), 0); /* passed on: the daemon rejects unknown words */
	expect_news(w, GS_NRI_SET, "class=");
	memset(uid, 'a', sizeof(uid));
	uid[sizeof(uid) - 1] = '\0';
	assert_int_equal(put(w, uid, "class=lc"), -EINVAL);
	for (int i = 0; i < 4096; i++) {
		snprintf(uid, sizeof(uid), "%d", i);
		assert_int_equal(put(w, uid, "class=lc"), 0);
	}
	assert_int_equal(put(w, "more", "class=lc"), -ENOSPC);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(fn) cmocka_unit_test_setup_teardown(fn, begin, end)
		TEST(it_registers),
		TEST(it_wants_two_events_and_no_others),
		TEST(a_list_in_parts_is_one_list),
		TEST(both_kinds_of_runtimes_are_heard),
		TEST(what_was_not_asked_for_is_answered_with_nothing),
		TEST(words_of_others_are_translated),
		TEST(a_refusal_is_told),
		TEST(lengths_that_are_forbidden_end_it),
		TEST(a_promise_of_bytes_costs_nothing),
		TEST(other_connections_and_types_are_passed_over),
		TEST(answers_that_nobody_reads_are_not_kept_for_ever),
		TEST(another_daemon_hears_it_all_again),
		TEST(another_list_ends_those_that_are_not_in_it),
		TEST(news_that_came_meanwhile_are_not_lost),
		TEST(pods_that_cannot_be_are_left_out),
#undef TEST
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
