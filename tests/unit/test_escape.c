// SPDX-License-Identifier: MIT
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "basic/cleanup.h"
#include "basic/escape.h"
#include "basic/log.h"

static void is(const char *text, const char *expected)
{
	CLEANUP_FREE char *shown = gs_escaped(text);

	assert_string_equal(shown, expected);
}

static void test_what_is_shown_as_it_is(void **state)
{
	is("", "");
	is("python3 -c 'x'", "python3 -c 'x'");
	is("\\x1b", "\\x1b");
	is("gr\xc3\xb6\xc3\x9f"
	   "er \xe2\x82\xac \xf0\x9f\x98\x80",
	   "gr\xc3\xb6\xc3\x9f"
	   "er \xe2\x82\xac \xf0\x9f\x98\x80");
}

static void test_what_moves_a_terminal(void **state)
{
	is("\033]0;P\007", "\\x1b]0;P\\x07");
	is("a\nb\tc\rd", "a\\x0ab\\x09c\\x0dd");
	is("\x7f\xc2\x9b"
	   "31m\xc2\x85",
	   "\\x7f\\x9b31m\\x85");
	is("\xe2\x80\xae"
	   "cba\xe2\x80\xa8"
	   "\xe2\x81\xa6",
	   "\\u202ecba\\u2028\\u2066");
}

static void test_what_is_not_utf8(void **state)
{
	is("\x9b", "\\x9b");
	is("\xc3", "\\xc3");
	is("\xe2\x82", "\\xe2\\x82");
	is("\xc0\x8a", "\\xc0\\x8a");          /* a newline in an overlong form */
	is("\xed\xa0\x80", "\\xed\\xa0\\x80"); /* half of a surrogate pair */
	is("\xf8\x88\x80\x80\x80", "\\xf8\\x88\\x80\\x80\\x80");
}

static void mends(const char *text, const char *want)
{
	char copy[64];

	snprintf(copy, sizeof(copy), "%s", text);
	gs_escape_mend(copy);
	assert_string_equal(copy, want);
}

static void test_mend(void **state)
{
	mends("worker", "worker");
	mends("arbeit\xc3\xa4r", "arbeit\xc3\xa4r");
	/* a comm of 15 bytes that ends within a character */
	mends("\xe8\xae\xad\xe7\xbb\x83-worker\xe7\xbb", "\xe8\xae\xad\xe7\xbb\x83-worker");
	mends("\xe2\x82", "");
	mends("a\xf0\x9f\x98", "a");
	mends("a\xc3", "a");
	/* what is not UTF-8 in the middle spoils nothing else */
	mends("\xc3-\xc3\xa4\xff", "?-\xc3\xa4?");
	mends("\xed\xa0\x80", "???");
}

/* Whatever the buffer's size, the text is terminated, and no character is cut in two. */
static void test_every_room(void **state)
{
	static const char text[] = "a\033\xe2\x82\xac\n\xe2\x80\xae";
	CLEANUP_FREE char *all = gs_escaped(text);

	for (size_t size = 1; size <= strlen(all) + 1; size++) {
		char *buf = malloc(size); /* so that the sanitizer sees a write past the end */
		size_t n;

		gs_escape(buf, size, text);
		n = strlen(buf);
		assert_true(n == 0 || n == 1 || n == 5 || n == 8 || n == 12 || n == 18);
		assert_memory_equal(buf, all, n);
		free(buf);
	}
}

static void keep(int level, const char *message, void *user)
{
	strcpy(user, message);
}

static void test_the_log_is_one_line(void **state)
{
	char line[64] = "";

	gs_log_sink(keep, line, LOG_INFO);
	gs_log(LOG_INFO, "process %d (%s)", 7, "x\n<0>forged");
	gs_log_sink(NULL, NULL, LOG_ERR);
	assert_string_equal(line, "process 7 (x\\x0a<0>forged)");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_shown_as_it_is),
		cmocka_unit_test(test_what_moves_a_terminal),
		cmocka_unit_test(test_what_is_not_utf8),
		cmocka_unit_test(test_mend),
		cmocka_unit_test(test_every_room),
		cmocka_unit_test(test_the_log_is_one_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
