// SPDX-License-Identifier: MIT
/*
 * test_library.c - check that wrong use of the library gives an error with a reason, never a crash
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gpusched/gpusched.h"

static const struct gpusched_values none = { GPUSCHED_UNSET, GPUSCHED_UNSET, GPUSCHED_UNSET,
					     GPUSCHED_UNSET };

static int on_tsg(const struct gpusched_tsg_info *tsg, void *user)
{
	return 1;
}

static int on_event(const char *json, void *user)
{
	return 1;
}

static void expect(int r, int code, struct gpusched *g, const char *reason)
{
	assert_int_equal(r, code);
	if (!strstr(gpusched_error(g), reason))
		fail_msg("'%s' does not say '%s'", gpusched_error(g), reason);
	assert_null(strchr(gpusched_error(g), '\n'));
}

/* Returns a handle without a daemon behind it. */
static struct gpusched *unopened(void)
{
	const struct gpusched_open_options o = { sizeof(o), "/nonexistent/gpusched/api", 0 };
	struct gpusched *g = NULL;

	assert_int_equal(gpusched_open(&o, &g), -ECONNREFUSED);
	assert_non_null(g);
	return g;
}

static void no_handle(void **state)
{
	unsigned int n = 7;
	char *json = NULL;

	gpusched_close(NULL);
	assert_string_equal(gpusched_error(NULL), "");
	assert_int_equal(gpusched_has_daemon(NULL), 0);
	assert_int_equal(gpusched_open(NULL, NULL), -EINVAL);
	assert_int_equal(gpusched_list(NULL, "all", on_tsg, NULL), -EINVAL);
	assert_int_equal(gpusched_set(NULL, "all", &none, &n), -EINVAL);
	assert_int_equal(gpusched_unset(NULL, "all", &n), -EINVAL);
	assert_int_equal(gpusched_preempt(NULL, "all", NULL), -EINVAL);
	assert_int_equal(gpusched_suspend(NULL, "all", 0, &n), -EINVAL);
	assert_int_equal(gpusched_resume(NULL, "all", &n), -EINVAL);
	assert_int_equal(gpusched_park(NULL, "all", 0, &n), -EINVAL);
	assert_int_equal(gpusched_unpark(NULL, "all", &n), -EINVAL);
	assert_int_equal(gpusched_restore(NULL, &n), -EINVAL);
	assert_int_equal(gpusched_class_set(NULL, "all", "be"), -EINVAL);
	assert_int_equal(gpusched_class_clear(NULL, "all"), -EINVAL);
	assert_int_equal(gpusched_watch(NULL, on_event, NULL, 1), -EINVAL);
	assert_int_equal(gpusched_trace(NULL, on_event, NULL, 1), -EINVAL);
	assert_int_equal(gpusched_request(NULL, "ping", NULL, &json), -EINVAL);
	assert_null(json);
}

static void missing_arguments(void **state)
{
	struct gpusched_values runnable = none;
	struct gpusched *g = unopened();
	unsigned int n = 7;
	char *json = NULL;

	runnable.runnable = 0;
	expect(gpusched_list(g, "all", NULL, NULL), -EINVAL, g, "function");
	expect(gpusched_set(g, NULL, &none, &n), -EINVAL, g, "target");
	assert_int_equal(n, 0);
	expect(gpusched_set(g, "all", NULL, &n), -EINVAL, g, "what to set");
	expect(gpusched_set(g, "all", &runnable, &n), -EINVAL, g, "gpusched_suspend()");
	expect(gpusched_unset(g, NULL, NULL), -EINVAL, g, "target");
	expect(gpusched_preempt(g, NULL, NULL), -EINVAL, g, "target");
	expect(gpusched_suspend(g, NULL, 1, NULL), -EINVAL, g, "target");
	expect(gpusched_resume(g, NULL, NULL), -EINVAL, g, "target");
	expect(gpusched_park(g, NULL, 1, NULL), -EINVAL, g, "target");
	expect(gpusched_unpark(g, NULL, NULL), -EINVAL, g, "target");
	expect(gpusched_class_set(g, NULL, "be"), -EINVAL, g, "target");
	expect(gpusched_class_set(g, "all", NULL), -EINVAL, g, "class");
	expect(gpusched_class_clear(g, NULL), -EINVAL, g, "target");
	expect(gpusched_watch(g, NULL, NULL, 1), -EINVAL, g, "function");
	expect(gpusched_trace(g, NULL, NULL, 1), -EINVAL, g, "function");
	expect(gpusched_request(g, NULL, NULL, &json), -EINVAL, g, "verb");
	expect(gpusched_request(g, "ping", NULL, NULL), -EINVAL, g, "answer");
	expect(gpusched_suspend(g, "comm:\xff\xfe", 0, NULL), -EINVAL, g, "UTF-8");
	gpusched_close(g);
}

static void a_failed_handle(void **state)
{
	struct gpusched *g = unopened();
	unsigned int n = 7;

	expect(gpusched_list(g, NULL, on_tsg, NULL), -EBADF, g, "not opened");
	expect(gpusched_set(g, "all", &none, &n), -EBADF, g, "not opened");
	expect(gpusched_restore(g, &n), -EBADF, g, "not opened");
	assert_int_equal(n, 0);
	expect(gpusched_watch(g, on_event, NULL, 1), -EBADF, g, "not opened");
	expect(gpusched_trace(g, on_event, NULL, 1), -EBADF, g, "not opened");
	gpusched_close(g);
}

static void bad_options(void **state)
{
	static const struct gpusched_open_options bad[] = {
		{ 0, NULL, 0 },
		{ 4, NULL, 0 },
		{ sizeof(bad[0]) - 1, NULL, 0 },
	};
	static char long_path[4000];

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct gpusched *g = NULL;

		assert_int_equal(gpusched_open(&bad[i], &g), -EINVAL);
		assert_string_not_equal(gpusched_error(g), "");
		gpusched_close(g);
	}
	memset(long_path, 'a', sizeof(long_path) - 1);
	for (int i = 0; i < 2; i++) {
		const struct gpusched_open_options o = { sizeof(o), i ? "" : long_path, 0 };
		struct gpusched *g = NULL;

		assert_true(gpusched_open(&o, &g) < 0);
		assert_string_not_equal(gpusched_error(g), "");
		gpusched_close(g);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_handle),
		cmocka_unit_test(missing_arguments),
		cmocka_unit_test(a_failed_handle),
		cmocka_unit_test(bad_options),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
