// SPDX-License-Identifier: MIT
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "classify/patterns.h"

static int form(enum gs_pattern_of what, const char *pattern, char *ret, struct gs_error *err)
{
	strcpy(ret, pattern);
	*err = (struct gs_error){ 0 };
	return gs_pattern_form(what, ret, err);
}

#define BECOMES(what, pattern, becomes) \
	do { \
		char text[128]; \
		struct gs_error err; \
		assert_int_equal(form(what, pattern, text, &err), 0); \
		assert_string_equal(text, becomes); \
	} while (0)
#define REFUSED(what, pattern, word) \
	do { \
		char text[128]; \
		struct gs_error err; \
		assert_int_equal(form(what, pattern, text, &err), -EINVAL); \
		assert_non_null(strstr(err.text, word)); \
	} while (0)

static void names_of_programs_have_15_characters(void **state)
{
	BECOMES(GS_PATTERN_COMM, "VLLM::EngineCore", "VLLM::EngineCor");
	BECOMES(GS_PATTERN_COMM, "123456789012345", "123456789012345");
	BECOMES(GS_PATTERN_COMM, "VLLM::*EngineCor*", "VLLM::*EngineCor*");
	BECOMES(GS_PATTERN_COMM, "[a-z0-9_]1234567890????", "[a-z0-9_]1234567890????");
	BECOMES(GS_PATTERN_COMM, "[]a]\\*", "[]a]\\*");
	BECOMES(GS_PATTERN_COMM, "[!]ab]12345678901234", "[!]ab]12345678901234");
	BECOMES(GS_PATTERN_COMM, "a[", "a[");
	BECOMES(GS_PATTERN_COMM, "a[!", "a[!");
	REFUSED(GS_PATTERN_COMM, "VLLM::EngineCore*", "15 characters");
	REFUSED(GS_PATTERN_COMM, "[a-z]123456789012345", "15 characters");
}

static void paths_of_cgroups_begin_at_their_root(void **state)
{
	BECOMES(GS_PATTERN_CGROUP, "system.slice/x.service", "/system.slice/x.service");
	BECOMES(GS_PATTERN_CGROUP, "/sys/fs/cgroup/system.slice", "/system.slice");
	BECOMES(GS_PATTERN_CGROUP, "/sys/fs/cgroup", "/");
	BECOMES(GS_PATTERN_CGROUP, "/sys/fs/cgroups", "/sys/fs/cgroups");
	BECOMES(GS_PATTERN_CGROUP, "/", "/");
	BECOMES(GS_PATTERN_CGROUP, "*/x.service", "*/x.service");
	BECOMES(GS_PATTERN_CGROUP, "[/]x", "[/]x");
}

static void what_nothing_matches_is_refused(void **state)
{
	REFUSED(GS_PATTERN_EXE, "python3", "*/python3");
	BECOMES(GS_PATTERN_EXE, "/usr/bin/python3", "/usr/bin/python3");
	BECOMES(GS_PATTERN_EXE, "*/python3*", "*/python3*");
	REFUSED(GS_PATTERN_NAME, "web/app", "namespace=NAME pod=NAME");
	BECOMES(GS_PATTERN_NAME, "app-*", "app-*");
	BECOMES(GS_PATTERN_ANY, "a/b", "a/b");
}

/* systemd writes "\x2d" into names, which glob(7) reads as "x2d". */
static void a_name_matches_itself(void **state)
{
	assert_true(gs_pattern_matches("/a.slice/b\\x2dc.service", "/a.slice/b\\x2dc.service"));
	assert_true(gs_pattern_matches("tab(1).scope", "tab(1).scope"));
	assert_true(gs_pattern_matches("a[1]", "a[1]"));
	assert_true(gs_pattern_matches("a[1]", "a1"));
	assert_true(gs_pattern_matches("/a*", "/a/b"));
	assert_false(gs_pattern_matches("*", ""));
	assert_false(gs_pattern_matches("/a", "/b"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_of_programs_have_15_characters),
		cmocka_unit_test(paths_of_cgroups_begin_at_their_root),
		cmocka_unit_test(what_nothing_matches_is_refused),
		cmocka_unit_test(a_name_matches_itself),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
