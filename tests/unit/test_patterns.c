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
	BECOMES(GS_PATTERN_CGROUP, "/a.slice/", "/a.slice");
	BECOMES(GS_PATTERN_CGROUP, "/a.slice//", "/a.slice");
	BECOMES(GS_PATTERN_CGROUP, "/sys/fs/cgroup/", "/");
	BECOMES(GS_PATTERN_CGROUP, "/", "/");
}

/* What systemd writes for a "-" is meant as it stands, in a pattern as well. */
static void escapes_of_systemd_are_kept(void **state)
{
	char kept[128];
	struct gs_error why;

	BECOMES(GS_PATTERN_CGROUP, "/a\\x2db.service", "/a\\x2db.service");
	BECOMES(GS_PATTERN_CGROUP, "/a\\x2db\\x2dc*", "/a\\\\x2db\\\\x2dc*");
	BECOMES(GS_PATTERN_CGROUP, "/a\\\\x2db*", "/a\\\\x2db*");
	BECOMES(GS_PATTERN_CGROUP, "/a\\xyz*\\*", "/a\\xyz*\\*");
	form(GS_PATTERN_CGROUP, "/a\\x2db*", kept, &why);
	assert_true(gs_pattern_matches(kept, "/a\\x2dbc.service"));
	assert_false(gs_pattern_matches(kept, "/ax2dbc.service"));
	form(GS_PATTERN_CGROUP, "\\x2d\\x2d\\x2d\\x2d*", kept, &why);
	assert_true(strlen(kept) < GS_PATTERN_ROOM(strlen("\\x2d\\x2d\\x2d\\x2d*")));
}

static void a_cut_comm_is_told(void **state)
{
	char cut[GS_PATTERN_COMM_LEN];

	assert_true(gs_pattern_is_cut("comm=VLLM::EngineCore uid=1 -> lc", cut));
	assert_string_equal(cut, "VLLM::EngineCor");
	assert_true(gs_pattern_is_cut("arg=comm=a\tcomm=1234567890123456", cut));
	assert_string_equal(cut, "123456789012345");
	assert_false(gs_pattern_is_cut("comm=VLLM::EngineCor -> lc", cut));
	assert_false(gs_pattern_is_cut("comm=VLLM::*EngineCor* -> lc", cut));
	assert_false(gs_pattern_is_cut("arg=comm=VLLM::EngineCore -> lc", cut));
	assert_false(gs_pattern_is_cut("uid=1 -> lc", cut));
}

static void what_nothing_matches_is_refused(void **state)
{
	REFUSED(GS_PATTERN_EXE, "python3", "*/python3");
	BECOMES(GS_PATTERN_EXE, "/usr/bin/python3", "/usr/bin/python3");
	BECOMES(GS_PATTERN_EXE, "*/python3*", "*/python3*");
	REFUSED(GS_PATTERN_NAME, "web/app", "namespace=NAME pod=NAME");
	BECOMES(GS_PATTERN_NAME, "app-*", "app-*");
	BECOMES(GS_PATTERN_NAME, "*", "*");
	REFUSED(GS_PATTERN_NAME, "-*", "small letters");
	BECOMES(GS_PATTERN_NAME, "server-0.a", "server-0.a");
	BECOMES(GS_PATTERN_NAME, "[a-zA-Z]*", "[a-zA-Z]*");
	BECOMES(GS_PATTERN_NAME, "[!]x]a", "[!]x]a");
	BECOMES(GS_PATTERN_NAME, "a\\-b", "a\\-b");
	REFUSED(GS_PATTERN_NAME, "Server", "small letters");
	REFUSED(GS_PATTERN_NAME, "my_pod*", "small letters");
	REFUSED(GS_PATTERN_NAME, "-a", "small letters");
	REFUSED(GS_PATTERN_NAME, "a-", "small letters");
	REFUSED(GS_PATTERN_NAME, "[ab]C", "small letters");
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
		cmocka_unit_test(escapes_of_systemd_are_kept),
		cmocka_unit_test(a_cut_comm_is_told),
		cmocka_unit_test(what_nothing_matches_is_refused),
		cmocka_unit_test(a_name_matches_itself),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
