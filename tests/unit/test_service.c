// SPDX-License-Identifier: MIT
/* test_service.c - check the service's parts that need no table: targets, JSON, permissions */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "basic/cleanup.h"
#include "service/instance.h"
#include "hub/json.h"
#include "requests/json.h"
#include "hub/records.h"
#include "requests/watch.h"

static struct gs_gpu gpus[2] = {
	{ .index = 0, .dev_instance = 1, .pci = "00000000:19:00.0", .uuid = "GPU-aaaa" },
	{ .index = 1, .dev_instance = 0, .pci = "00000000:3B:00.0", .uuid = "GPU-bbbb" },
};

static struct gs_classes *classes;

static int setup(void **state)
{
	return gs_classes_new(&classes);
}

static int teardown(void **state)
{
	gs_classes_free(classes);
	return 0;
}

static int parse(const char *text, struct gs_target *ret, struct gs_error *err)
{
	memset(err, 0, sizeof(*err));
	return gs_target_parse(text, classes, gpus, 2, ret, err);
}

static const struct gpusched_tsg sample = {
	.key = { .client = 0xc1d00005, .handle = 0x5c000013 },
	.nchannels = 8,
	.dev_instance = 0,
	.flags = GPUSCHED_TSG_SCHEDULED,
	.task = {
		.id = 7,
		.gpu = 1,
		.kind = GPUSCHED_KIND_COMPUTE,
		.engine = 1,
		.pid = 4711,
		.uid = 1000,
		.class_id = GPUSCHED_CLASS_BE,
		.cgroup_id = 99,
		.comm = "gsload",
		.asked = { .valid = GPUSCHED_ALL_SETTINGS, .timeslice_us = 2048, .interleave = 1,
			   .preempt_mode = 2, .runnable = 1 },
		.is = { .valid = GPUSCHED_TIMESLICE, .timeslice_us = 20 },
	},
};

static void targets_match(void **state)
{
	static const struct {
		const char *text;
		bool match;
	} cases[] = {
		{ "all", true },
		{ "pid:4711", true },
		{ "pid:47", false },
		{ "tsg:7", true },
		{ "tsg:8", false },
		{ "tid:4712", true },
		{ "tid:4711", false },
		{ "tid:4712,pid:4711", true },
		{ "comm:gsload", true },
		{ "comm:gs*", true },
		{ "comm:gs", false },
		{ "class:be", true },
		{ "class:lc", false },
		{ "gpu:1", true },
		{ "gpu:0", false },
		{ "gpu:GPU-bbbb", true },
		{ "gpu:GPU-aaaa", false },
		{ "cgroup:/", false },
		{ "uid:1000", true },
		{ "uid:0", false },
		{ "user:root", false },
		{ "class:be,gpu:1", true },
		{ "class:be,gpu:0", false },
		{ "pid:4711,tsg:7,uid:1000,comm:gs*", true },
		{ "comm:gsload,x", false },
		{ "comm:[g,x]sload,pid:4711", true },
	};

	for (size_t i = 0; i < GS_COUNT(cases); i++) {
		struct gs_error err;
		struct gs_target t;

		/*
		 * The sample's process does not exist, so it is in no cgroup, not even in the root.
		 */
		if (!strncmp(cases[i].text, "cgroup:", 7) && access("/sys/fs/cgroup", R_OK))
			continue;
		assert_int_equal(parse(cases[i].text, &t, &err), 0);
		if (gs_target_match(&t, &sample, 4712) != cases[i].match)
			fail_msg("%s", cases[i].text);
	}
}

static void targets_refused(void **state)
{
	static const struct {
		const char *text;
		int code;
		const char *word;
	} cases[] = {
		{ "", -EINVAL, "'': write pid|tid|" },
		{ "pid", -EINVAL, "'pid': write pid|tid|" },
		{ "4711", -EINVAL, "is not a target" },
		{ "pid:", -EINVAL, "must follow" },
		{ "pid:x", -EINVAL, "not a number: write pid:N" },
		{ "pid:0", -EINVAL, "out of range" },
		{ "pid:-1", -EINVAL, "not a number" },
		{ "pid:12x", -EINVAL, "not a number" },
		{ "tsg:0", -EINVAL, "out of range" },
		{ "tid:0", -EINVAL, "out of range" },
		{ "class:nobody", -EINVAL, "class list" },
		{ "gpu:7", -ENOENT, "no GPU" },
		{ "gpu:GPU-", -ENOENT, "or several" },
		{ "cgroup:/../etc", -EINVAL, "not allowed" },
		{ "cgroup:/there/is/none", -ENOENT, "no cgroup" },
		{ "group:root", -EINVAL, "'group:ro...': write pid|" },
		{ "user:no-such-user", -ENOENT, "uid:N" },
		{ "uid:x", -EINVAL, "not a number: write uid:N, or user:NAME" },
		{ "class:be,pid:", -EINVAL, "must follow" },
		{ "pid:1,all", -EINVAL, "not a number" },
		{ "uid:1,uid:1,uid:1,uid:1,uid:1", -EINVAL, "more than 4 parts" },
	};

	for (size_t i = 0; i < GS_COUNT(cases); i++) {
		struct gs_error err;
		struct gs_target t;
		int r = parse(cases[i].text, &t, &err);

		if (r != cases[i].code || !strstr(err.text, cases[i].word))
			fail_msg("'%s': %d, %s", cases[i].text, r, err.text);
	}
}

static void target_too_long(void **state)
{
	struct gs_error err;
	struct gs_target t;
	char text[400];

	memset(text, 'a', sizeof(text));
	memcpy(text, "comm:", 5);
	text[sizeof(text) - 1] = 0;
	assert_int_equal(parse(text, &t, &err), -EINVAL);
}

static void hardware_is_as_asked_where_untold(void **state)
{
	struct gpusched_tsg rec = sample;
	struct gpusched_settings is = gs_record_is(&rec);

	assert_int_equal(is.valid, GPUSCHED_ALL_SETTINGS);
	assert_int_equal(is.timeslice_us, 20);
	assert_int_equal(is.preempt_mode, 2);
	/* While a call's answer is unknown, so is the setting. */
	rec.task.is.valid = 0;
	rec.changed = GPUSCHED_TIMESLICE;
	is = gs_record_is(&rec);
	assert_false(is.valid & GPUSCHED_TIMESLICE);
}

static void settings_absent_is_null(void **state)
{
	struct gpusched_settings set = { .valid = GPUSCHED_TIMESLICE | GPUSCHED_RUNNABLE,
					 .timeslice_us = 20 };
	json_t *o = gs_settings_json(&set);

	assert_int_equal(json_integer_value(json_object_get(o, "timeslice_us")), 20);
	assert_true(json_is_null(json_object_get(o, "interleave")));
	assert_true(json_is_null(json_object_get(o, "preempt_mode")));
	assert_true(json_is_false(json_object_get(o, "runnable")));
	assert_int_equal(json_object_size(o), 4);
	json_decref(o);
}

static void record_as_json(void **state)
{
	struct gpusched_tsg rec = sample;
	json_t *o, *want;

	memcpy(rec.task.comm, "a\xff\xfe", 4);
	o = gs_tsg_json(NULL, &rec);
	assert_int_equal(json_integer_value(json_object_get(o, "id")), 7);
	assert_int_equal(json_integer_value(json_object_get(o, "gpu")), 1);
	assert_string_equal(json_string_value(json_object_get(o, "client")), "0xc1d00005");
	assert_string_equal(json_string_value(json_object_get(o, "engine")), "GR0");
	assert_string_equal(json_string_value(json_object_get(o, "kind")), "compute");
	assert_string_equal(json_string_value(json_object_get(o, "known_by")), "tap");
	assert_string_equal(json_string_value(json_object_get(o, "comm")), "a??");
	assert_true(json_is_null(json_object_get(o, "launches")));
	assert_true(json_is_null(json_object_get(o, "suspended_by")));
	want = json_object_get(o, "want");
	assert_true(json_is_null(json_object_get(want, "timeslice_us")));
	json_decref(o);
}

static void gpu_unknown_is_null(void **state)
{
	struct gpusched_tsg rec = sample;
	json_t *o;

	rec.task.gpu = GPUSCHED_GPU_UNKNOWN;
	rec.task.engine = 0;
	o = gs_tsg_json(NULL, &rec);
	assert_true(json_is_null(json_object_get(o, "gpu")));
	assert_true(json_is_null(json_object_get(o, "engine")));
	json_decref(o);
}

static void engine_names(void **state)
{
	char b[12];

	assert_string_equal(gs_engine_name(1, b), "GR0");
	assert_string_equal(gs_engine_name(9, b), "CE0");
	assert_string_equal(gs_engine_name(18, b), "CE9");
	assert_string_equal(gs_engine_name(0x34, b), "CE10");
	assert_null(gs_engine_name(0, b));
}

/* ---- verbs on a service without a table: requests that are refused first --------------------- */

/* Makes the parts of a service, which does not run. */
static void begin(struct gs_service *s, struct gs_hub *hub)
{
	*s = (struct gs_service){ .hub = hub };
	assert_int_equal(gs_intake_new(hub, &s->intake), 0);
	assert_int_equal(gs_figures_new(hub, &s->figures), 0);
	assert_int_equal(gs_control_new(hub, &s->control), 0);
	assert_int_equal(gs_requests_new(hub, s->intake, s->figures, s->control, &s->requests), 0);
	gs_service_observe(s);
}

static void end(struct gs_service *s)
{
	gs_requests_free(s->requests);
	gs_control_free(s->control);
	gs_figures_free(s->figures);
	gs_intake_free(s->intake);
}

static int ask(uid_t uid, const char *verb, const char *args, struct gs_error *err)
{
	struct gs_config config = { 0 };
	struct gs_hub hub = { .config = &config, .classes = classes, .gpus = gpus, .ngpus = 2 };
	struct gs_service s;
	const struct gs_peer peer = { .uid = uid, .gid = uid, .pid = 1 };
	json_t *in = args ? json_loads(args, JSON_DECODE_ANY, NULL) : NULL, *out = NULL;
	int r;

	memset(err, 0, sizeof(*err));
	begin(&s, &hub);
	r = gs_service_verb(&s, &peer, verb, in, &out, err);
	assert_int_equal(hub.counters[GS_SVC_REQUESTS], 1);
	assert_int_equal(hub.counters[GS_SVC_REFUSED], r == -EPERM);
	end(&s);
	json_decref(in);
	json_decref(out);
	return r;
}

static void verbs_refused(void **state)
{
	static const struct {
		uid_t uid;
		const char *verb, *args;
		int code;
		const char *word;
	} cases[] = {
		{ 0, "nonsense", "{}", -EINVAL, "no verb" },
		{ 0, "list", "[1]", -EINVAL, "JSON object" },
		{ 0, "list", "{\"traget\": \"all\"}", -EINVAL, "unknown argument 'traget'" },
		{ 0, "list", "{\"target\": 5}", -EINVAL, "must be a string" },
		{ 0, "set", "{\"target\": \"all\"}", -EINVAL, "what to set is missing" },
		{ 0, "set", "{\"timeslice_us\": 20}", -EINVAL, "target is missing" },
		{ 0, "set", "{\"target\": \"all\", \"timeslice_us\": 0}", -ERANGE,
		  "1 to 100000000" },
		{ 0, "set", "{\"target\": \"all\", \"timeslice_us\": 1e3}", -EINVAL,
		  "whole number" },
		{ 0, "set", "{\"target\": \"all\", \"timeslice_us\": 100000001}", -ERANGE,
		  "range" },
		{ 0, "set", "{\"target\": \"all\", \"interleave\": \"best\"}", -EINVAL, "medium" },
		{ 0, "set", "{\"target\": \"all\", \"preempt_mode\": 3}", -ERANGE, "cilp" },
		{ 0, "set", "{\"target\": \"all\", \"clear\": true, \"interleave\": 1}", -EINVAL,
		  "exclude" },
		{ 0, "suspend", "{\"target\": \"all\", \"for_us\": -1}", -ERANGE, "range" },
		{ 0, "suspend", "{\"target\": \"all\", \"for_us\": \"1s\"}", -EINVAL, "number" },
		{ 0, "class_set", "{\"target\": \"pid:1\"}", -EINVAL, "class is missing" },
		{ 0, "class_set", "{\"target\": \"cgroup:/\", \"weight\": 5}", -EINVAL,
		  "class is missing" },
		{ 1000, "class_set", "{\"target\": \"pid:1\", \"weight\": 5, \"as_uid\": 1001}",
		  -EPERM, "only root" },
		{ 0, "class_set", "{\"target\": \"pid:1\", \"class\": \"\"}", -EINVAL,
		  "must be a string" },
		{ 0, "class_set", "{\"target\": \"pid:1\", \"class\": \"be\", \"weight\": 0}",
		  -ERANGE, "1 to 10000" },
		{ 0, "set", "{\"target\": \"all\", \"clear\": 1}", -EINVAL, "true or false" },
		{ 0, "set", "{\"target\": \"all\", \"timeslice\": 1}", -EINVAL, "unknown" },
		{ 0, "set", "{\"target\": \"all\", \"runnable\": 1}", -EINVAL, "unknown" },
		{ 0, "policy_start", "{\"name\": \"a\", \"options\": \"b=1\"}", -EINVAL,
		  "array of at most 64" },
		{ 0, "policy_start", "{\"name\": \"a\", \"options\": [1]}", -EINVAL, "strings" },
		{ 0, "policy_start", "{\"name\": null}", -EINVAL, "name is missing" },
		{ 0, "class_set", "{\"target\": \"pid:1\", \"class\": \"x\"}", -EINVAL,
		  "no class" },
		{ 0, "class_explain", "{\"target\": \"all\"}", -EINVAL, "pid:N" },
		{ 1000, "restore", "{}", -EPERM, "only root" },
		{ 1000, "policy_start", "{\"name\": \"lcbe\"}", -EPERM, "only root" },
		{ 1000, "policy_stop", "{}", -EPERM, "only root" },
		{ 1000, "observe_off", "{}", -EPERM, "only root" },
		{ 0, "policy_start", "{\"name\": \"lcbe\"}", -ENOTSUP, "gpuschedd" },
		{ 0, "observe_off", "{}", -EBUSY, "stop gpuschedd" },
	};

	for (size_t i = 0; i < GS_COUNT(cases); i++) {
		struct gs_error err;
		int r = ask(cases[i].uid, cases[i].verb, cases[i].args, &err);

		if (r != cases[i].code || !strstr(err.text, cases[i].word))
			fail_msg("%s %s: %d, %s", cases[i].verb, cases[i].args, r, err.text);
	}
}

static void read_only_does_not_act(void **state)
{
	struct gs_hub hub = { .classes = classes, .opts = { .read_only = true } };
	struct gs_service s;
	const struct gs_peer root = { 0 };
	struct gs_error err = { 0 };
	json_t *args = json_pack("{s:s}", "target", "all"), *out = NULL;

	begin(&s, &hub);
	assert_int_equal(gs_service_verb(&s, &root, "suspend", args, &out, &err), -ENOTSUP);
	assert_non_null(strstr(err.text, "read-only"));
	json_decref(args);
	end(&s);
}

static void verbs_alone(void **state)
{
	const struct gs_peer root = { 0 };
	struct gs_error err = { 0 };
	json_t *out = NULL;

	assert_int_equal(gs_service_verb(NULL, &root, "ping", NULL, &out, &err), 0);
	assert_string_equal(json_string_value(json_object_get(out, "version")), GPUSCHED_VERSION);
	assert_int_equal(json_integer_value(json_object_get(out, "pid")), getpid());
	json_decref(out);
	assert_int_equal(gs_service_verb(NULL, &root, "list", NULL, &out, &err), -ENOTSUP);
	assert_true(gs_verb_flags("list") & GS_VERB_READS);
	assert_false(gs_verb_flags("set") & GS_VERB_READS);
	assert_true(gs_verb_flags("restore") & GS_VERB_ALONE);
	assert_int_equal(gs_verb_flags("nonsense"), -ENOENT);
}

/* ---- watches --------------------------------------------------------------------------------- */

struct seen {
	struct gs_service *s;
	unsigned int token, n;
	bool leave;
};

static void on_event(const json_t *event, void *user)
{
	struct seen *w = user;

	w->n++;
	if (w->leave)
		gs_service_unwatch(w->s, w->token);
}

static void watchers_may_leave(void **state)
{
	const struct gs_peer root = { 0 };
	struct gs_hub hub = { 0 };
	struct gs_service s;
	struct seen stays = { &s }, leaves = { &s, .leave = true };

	begin(&s, &hub);
	assert_int_equal(gs_service_watch(&s, &root, on_event, &stays, &stays.token), 0);
	assert_int_equal(gs_service_watch(&s, &root, on_event, &leaves, &leaves.token), 0);
	gs_observers_say(&hub.observers, json_object(), GS_NOBODY);
	gs_observers_say(&hub.observers, json_object(), GS_NOBODY);
	assert_int_equal(stays.n, 2);
	assert_int_equal(leaves.n, 1);
	gs_service_unwatch(&s, stays.token);
	assert_false(hub.watched);
	gs_observers_say(&hub.observers, json_object(), GS_NOBODY);
	assert_int_equal(stays.n, 2);
	end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(targets_match),
		cmocka_unit_test(targets_refused),
		cmocka_unit_test(target_too_long),
		cmocka_unit_test(hardware_is_as_asked_where_untold),
		cmocka_unit_test(settings_absent_is_null),
		cmocka_unit_test(record_as_json),
		cmocka_unit_test(gpu_unknown_is_null),
		cmocka_unit_test(engine_names),
		cmocka_unit_test(verbs_refused),
		cmocka_unit_test(read_only_does_not_act),
		cmocka_unit_test(verbs_alone),
		cmocka_unit_test(watchers_may_leave),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
