// SPDX-License-Identifier: MIT
/*
 * test_policy_hostile.c - check hostile policies (tests/policy)
 *
 * Each policy is ended with an exit record and leaves the driver's own behaviour, or runs without
 * access to anything that is not its own.
 */
#include <dirent.h>
#include <poll.h>

#include "basic/clock.h"
#include "basic/log.h"
#include "policy/host.h"
#include "gate/gate.h"
#include "policy_fixture.h"

#define MANY 400

static void test_check(void **state)
{
	static const struct {
		const char *name;
		enum gs_policy_exit_kind kind;
		int code;          /* 0: any */
		const char *words; /* words of the message */
	} cases[] = {
		{ "out_of_bounds", GS_POLICY_EXIT_VERIFIER, 0, "verifier" },
		{ "endless", GS_POLICY_EXIT_VERIFIER, 0, "verifier" },
		{ "own_program", GS_POLICY_EXIT_REFUSED, -EINVAL, "tp_btf/sched_switch" },
		{ "own_global", GS_POLICY_EXIT_REFUSED, -EINVAL, "'helper_of_mine'" },
		{ "own_callback", GS_POLICY_EXIT_REFUSED, -EINVAL, "gpusched_ops_timeslice_set" },
		{ "helper", GS_POLICY_EXIT_REFUSED, -EINVAL, "bpf_probe_write_user" },
		{ "loop_helper", GS_POLICY_EXIT_REFUSED, -EINVAL, "loop" },
		{ "host_map", GS_POLICY_EXIT_REFUSED, -EINVAL, "'gs_tsgs'" },
		{ "pinned_map", GS_POLICY_EXIT_REFUSED, -EINVAL, "pinned map 'mine'" },
		{ "big_map", GS_POLICY_EXIT_REFUSED, -EINVAL, "MiB" },
		{ "default_range", GS_POLICY_EXIT_REFUSED, -EINVAL, "default of option level" },
		{ "small_entries", GS_POLICY_EXIT_REFUSED, -EINVAL, "MiB" },
		{ "fast_tick", GS_POLICY_EXIT_REFUSED, -ERANGE, "tick of 1 us: 1000 to" },
		{ "deny", GS_POLICY_EXIT_REFUSED, -ENOTSUP, "stock host cannot" },
		{ "no_callback", GS_POLICY_EXIT_REFUSED, -EINVAL, "no callback" },
		{ "no_policy", GS_POLICY_EXIT_REFUSED, -EINVAL, "GPUSCHED_POLICY()" },
		{ "abi_future", GS_POLICY_EXIT_REFUSED, -ENOTSUP, "ABI 99" },
		{ "div_zero", GS_POLICY_EXIT_NONE, 0, "" },
		{ "absurd", GS_POLICY_EXIT_NONE, 0, "" },
		{ "dies_in_init", GS_POLICY_EXIT_NONE, 0, "" },
		{ "slow_tick", GS_POLICY_EXIT_NONE, 0, "" },
		{ "flips", GS_POLICY_EXIT_NONE, 0, "" },
		{ "suspends_all", GS_POLICY_EXIT_NONE, 0, "" },
	};

	(void)state;
	NEED_TABLE();
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct gs_policy_exit x = { 0 };
		struct gs_error err = { 0 };
		int r = gs_policy_check(fixture_source(cases[i].name), NULL, &x, &err);

		if (!strcmp(cases[i].name, "deny") && !gs_gate_probe(NULL)) {
			assert_int_equal(r, 0); /* allowed, since this kernel has the gate */
			continue;
		}
		if (x.kind != cases[i].kind || (cases[i].code && x.code != cases[i].code) ||
		    !strstr(x.message, cases[i].words) || (r == 0) != (x.kind == 0))
			fail_msg("%s: returned %d, %s, code %d, '%s' (%s)", cases[i].name, r,
				 gs_policy_exit_name(x.kind), x.code, x.message, err.text);
		if (x.kind == GS_POLICY_EXIT_VERIFIER)
			assert_non_null(x.dump);
		free(x.dump);
	}
}

static int start(const char *name, struct gs_policy **ret, struct gs_policy_exit *x)
{
	struct gs_error err = { 0 };

	memset(x, 0, sizeof(*x));
	*ret = NULL;
	return fixture_start(fixture_source(name), NULL, NULL, ret, x, &err);
}

static void test_absurd(void **state)
{
	struct gpusched_tsg before = { 0 }, now;
	struct gs_policy_exit x;
	struct gs_policy *p;

	(void)state;
	NEED_TABLE();
	before = fixture_tsg(1, GPUSCHED_CLASS_BE);
	before = fixture_get(&before);
	assert_int_equal(start("absurd", &p, &x), 0);
	now = fixture_get(&before);
	/* the wish has bits without a meaning, so one-time wishes are not carried out */
	assert_int_equal(now.task.want.valid, GPUSCHED_ALL_WANTS & ~GPUSCHED_WANT_ONCE);
	assert_int_equal(now.task.want.runnable, 1);
	assert_int_equal(now.task.priv[7], (uint64_t)-1);
	/* nothing else in the record has changed */
	memset(&now.task.want, 0, sizeof(now.task.want));
	memset(now.task.priv, 0, sizeof(now.task.priv));
	memset(&before.task.want, 0, sizeof(before.task.want));
	assert_memory_equal(&now, &before, sizeof(now));
	gs_policy_stop(p, GS_POLICY_EXIT_STOPPED);
	assert_int_equal(fixture_get(&before).task.want.valid, 0);
	fixture_remove(&before);
}

static void test_div_zero(void **state)
{
	struct gpusched_tsg rec;
	struct gs_policy_exit x;
	struct gs_policy *p;

	(void)state;
	NEED_TABLE();
	rec = fixture_tsg(1, GPUSCHED_CLASS_BE);
	assert_int_equal(start("div_zero", &p, &x), 0);
	assert_int_equal(fixture_get(&rec).task.priv[1], 0);
	gs_policy_stop(p, GS_POLICY_EXIT_STOPPED);
	fixture_remove(&rec);
}

static char logged[4096];

static void keep_log(int level, const char *message, void *unused)
{
	size_t at = strlen(logged);

	(void)level;
	(void)unused;
	snprintf(logged + at, sizeof(logged) - at, "%s\n", message);
}

/*
 * Collects the library's log from now on. A policy's threads log, too, so tests must not depend on
 * the order of lines.
 */
static void listen(void)
{
	logged[0] = '\0';
	gs_log_sink(keep_log, NULL, LOG_INFO);
}

static void test_init(void **state)
{
	struct gs_policy_exit x;
	struct gs_policy *p;

	(void)state;
	NEED_TABLE();
	listen();
	assert_true(start("dies_in_init", &p, &x) < 0);
	assert_null(p);
	assert_int_equal(x.kind, GS_POLICY_EXIT_ERROR);
	assert_int_equal(x.code, -5);
	assert_string_equal(x.dump, "it is not \xab the day \xbb; of the week 5\n");
	free(x.dump);
	assert_true(start("fails_in_init", &p, &x) < 0);
	assert_null(p);
	assert_int_equal(x.kind, GS_POLICY_EXIT_ERROR);
	assert_int_equal(x.code, -7);
	assert_non_null(strstr(x.message, "no configuration"));
	assert_string_equal(x.dump, "files that were looked at 3\n");
	free(x.dump);
	gs_log_sink(NULL, NULL, 0);
	assert_non_null(strstr(
		logged, "policy dies_in_init: it is not \\xab the day \\xbb; of the week 5\n"));
	assert_non_null(strstr(logged, "policy fails_in_init: files that were looked at 3\n"));
}

/* Waits for the policy's own end; returns its exit record. */
static struct gs_policy_exit wait_end(struct gs_policy *p)
{
	struct pollfd pfd = { .fd = gs_stock_fd(p), .events = POLLIN };
	struct gs_policy_exit x = { 0 };

	for (int i = 0; i < 200 && x.kind == GS_POLICY_EXIT_NONE; i++) {
		poll(&pfd, 1, 100);
		gs_stock_dispatch(p, &x);
	}
	return x;
}

static void test_fails_in_tick(void **state)
{
	struct gpusched_tsg rec;
	struct gs_policy_exit x;
	struct gs_policy *p;

	(void)state;
	NEED_TABLE();
	rec = fixture_tsg(1, GPUSCHED_CLASS_BE);
	assert_int_equal(start("fails_in_tick", &p, &x), 0);
	assert_int_equal(fixture_get(&rec).task.want.timeslice_us, 777);
	x = wait_end(p);
	assert_int_equal(x.kind, GS_POLICY_EXIT_ERROR);
	assert_int_equal(x.code, -42);
	assert_string_equal(x.policy, "fails_in_tick");
	assert_non_null(strstr(x.message, "had enough"));
	assert_string_equal(x.dump, "round 1\nround 2\nround 3\n");
	free(x.dump);
	gs_policy_stop(p, x.kind);
	assert_int_equal(fixture_get(&rec).task.want.valid, 0);
	fixture_remove(&rec);
}

static void test_slow_tick(void **state)
{
	static struct gpusched_tsg recs[MANY];
	struct gs_policy_exit x;
	struct gs_policy *p;
	uint64_t began;

	(void)state;
	NEED_TABLE();
	for (uint32_t i = 0; i < MANY; i++)
		recs[i] = fixture_tsg(i + 1, GPUSCHED_CLASS_BE);
	assert_int_equal(start("slow_tick", &p, &x), 0);
	x = wait_end(p);
	assert_int_equal(x.kind, GS_POLICY_EXIT_STALLED);
	assert_int_equal(x.code, -ETIME);
	free(x.dump);
	listen();
	began = gs_now_ns();
	gs_policy_stop(p, x.kind);
	assert_true(gs_now_ns() - began < 2 * NS_PER_S);
	gs_log_sink(NULL, NULL, 0);
	assert_null(strstr(logged, "exit was called"));
	for (uint32_t i = 0; i < MANY; i++) {
		assert_int_equal(fixture_get(&recs[i]).task.want.valid, 0);
		fixture_remove(&recs[i]);
	}
}

/* Counts voluntary context switches of this process's other threads. */
static unsigned long others_switches(void)
{
	unsigned long sum = 0, n;
	struct dirent *e;
	DIR *d = opendir("/proc/self/task");

	assert_non_null(d);
	while ((e = readdir(d))) {
		char path[64], line[128];
		FILE *f;

		if (atoi(e->d_name) == getpid())
			continue;
		snprintf(path, sizeof(path), "/proc/self/task/%.16s/status", e->d_name);
		f = fopen(path, "re");
		while (f && fgets(line, sizeof(line), f))
			if (sscanf(line, "voluntary_ctxt_switches: %lu", &n) == 1)
				sum += n;
		if (f)
			fclose(f);
	}
	closedir(d);
	return sum;
}

/* A tick wakes only its own thread: the watchdog wakes only once per timeout. */
static void test_watchdog_is_quiet(void **state)
{
	const uint64_t period = NS_PER_MS; /* the period of the policy flips */
	struct gpusched_tsg rec;
	struct gs_policy_exit x;
	struct gs_policy *p;
	unsigned long before, after;
	uint64_t began;

	(void)state;
	NEED_TABLE();
	rec = fixture_tsg(1, GPUSCHED_CLASS_BE);
	assert_int_equal(start("flips", &p, &x), 0);
	gs_sleep_ns(5 * period);
	began = gs_now_ns();
	before = others_switches();
	gs_sleep_ns(500 * period);
	after = others_switches();
	assert_true(after > before);
	assert_in_range(after - before, 1, (gs_now_ns() - began) / period * 3 / 2 + 10);
	gs_policy_stop(p, GS_POLICY_EXIT_STOPPED);
	fixture_remove(&rec);
}

static uint64_t no_time(void *user)
{
	return 1;
}

/* One best-effort TSG for the native host, with a clock that stands still. */
static struct gpusched_task lone;
static struct gpusched_task *lone_tasks[] = { &lone };

static struct gpusched_task *const *only_one(void *user, size_t *ret_n)
{
	*ret_n = 1;
	return lone_tasks;
}

static const struct gs_world still = { .now_ns = no_time, .tasks = only_one, .seed = 1 };

static struct gs_policy *native(const char *name)
{
	struct gs_policy_exit x = { 0 };
	struct gs_error err = { 0 };
	struct gs_policy *p = NULL;

	lone = (struct gpusched_task){ .id = 1, .class_id = GPUSCHED_CLASS_BE };
	if (gs_policy_open(&gs_host_native, &still, fixture_source(name), NULL, 0, &p, &x, &err))
		fail_msg("%s: %s", name, err.text);
	return p;
}

/* The native host refuses the same numbers as the kernel's hosts. */
static void test_native_numbers(void **state)
{
	struct gs_policy_exit x = { 0 };
	struct gs_error err = { 0 };
	struct gs_policy *p = NULL;

	(void)state;
	assert_int_equal(gs_policy_open(&gs_host_native, &still, fixture_source("fast_tick"), NULL,
					0, &p, &x, &err),
			 -ERANGE);
	assert_null(p);
	assert_non_null(strstr(err.text, "tick of 1 us: 1000 to"));
}

/* The native host survives a tick that never returns. */
static void test_native_endless(void **state)
{
	struct gs_policy *p;

	(void)state;
#ifdef __SANITIZE_THREAD__
	print_message("# skipped: this sanitizer delivers no signal to a loop without calls\n");
	skip();
#endif
	p = native("endless");
	assert_true(gs_virtual_round(p) < 0);
	assert_non_null(strstr(p->failure, "stalled"));
	assert_true(gs_virtual_round(p) < 0);
	gs_policy_stop(p, GS_POLICY_EXIT_STALLED);
}

static void crashes(const char *name, const char *how)
{
	struct gs_policy *p = native(name);

	assert_true(gs_virtual_ask(p, GPUSCHED_RUN_TASK_INIT, &lone, 0) < 0);
	assert_non_null(strstr(p->failure, how));
	gs_policy_stop(p, GS_POLICY_EXIT_ERROR);
}

/* The native host survives a policy's crash. */
static void test_native_crash(void **state)
{
	struct gs_policy *p;

	(void)state;
	crashes("div_zero", "divided by zero");
	crashes("deep", "crashed");
	p = native("flips");
	assert_int_equal(gs_virtual_round(p), 0);
	assert_int_equal(lone.want.timeslice_us, 1000);
	assert_int_equal(gs_virtual_round(p), 0);
	assert_int_equal(lone.want.timeslice_us, 2000);
	gs_policy_stop(p, GS_POLICY_EXIT_STOPPED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_check),
		cmocka_unit_test(test_absurd),
		cmocka_unit_test(test_div_zero),
		cmocka_unit_test(test_init),
		cmocka_unit_test(test_fails_in_tick),
		cmocka_unit_test(test_slow_tick),
		cmocka_unit_test(test_watchdog_is_quiet),
		cmocka_unit_test(test_native_numbers),
		cmocka_unit_test(test_native_endless),
		cmocka_unit_test(test_native_crash),
	};

	return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
