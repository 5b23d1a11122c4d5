// SPDX-License-Identifier: MIT
/* test_arrivals_read.c - check traces of arrivals, as programs, people and attackers write them */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "basic/arrivals.h"
#include "basic/cleanup.h"

#define CLEANUP_ARRIVALS CLEANUP(gs_arrivals_free)
#define MS 1000000ull

static int parse(const char *text, size_t len, struct gs_arrivals *ret, struct gs_error *err)
{
	/* a copy of its own length: a read past its end is seen by the sanitizer */
	CLEANUP_FREE unsigned char *copy = malloc(len + 1);

	assert_non_null(copy);
	memcpy(copy, text, len);
	copy[len] = 0;
	return gs_arrivals_parse("t.csv", copy, len, true, ret, err);
}

/* Checks that a text is the trace "MS:SIZE MS:SIZE ...". */
static void reads_as(const char *text, const char *want)
{
	CLEANUP_ARRIVALS struct gs_arrivals a = { 0 };
	struct gs_error err = { 0 };
	char is[256] = "";

	if (parse(text, strlen(text), &a, &err))
		fail_msg("%s", err.text);
	for (size_t i = 0; i < a.n; i++)
		snprintf(is + strlen(is), sizeof(is) - strlen(is), "%s%g:%u", i ? " " : "",
			 (double)a.at[i].ns / MS, a.at[i].size);
	assert_string_equal(is, want);
}

static void refused_bytes(const char *text, size_t len, const char *why)
{
	struct gs_arrivals a = { .n = 7 };
	struct gs_error err = { 0 };

	assert_true(parse(text, len, &a, &err) < 0);
	if (!strstr(err.text, why))
		fail_msg("'%s' is not in: %s", why, err.text);
	assert_null(strchr(err.text, '\n'));
	assert_int_equal(a.n, 7);
}

static void refused(const char *text, const char *why)
{
	refused_bytes(text, strlen(text), why);
}

static void a_trace_has_times_and_sizes(void **state)
{
	reads_as("time,size\n0,1\n0.5,20\n", "0:1 500:20");
	reads_as("0,1\n0.5,20", "0:1 500:20");
	reads_as("0\n0.25\n", "0:1 250:1");
	reads_as("time\n3\n4\n", "0:1 1000:1");
	reads_as("time_ms,size\n100,3\n112.5,1\n", "0:3 12.5:1");
	reads_as("Size,x,TIME\n3,what,2\n1,,1.5\n", "0:1 500:3");
	reads_as("1700000000.25,1\n1700000000.75,2\n", "0:1 500:2");
	reads_as("5e-1,1\n1.5,2\n", "0:1 1000:2");
}

static void lines_may_be_in_any_order(void **state)
{
	reads_as("2,3\n1,1\n1,2\n3,4\n1,9\n", "0:1 0:2 0:9 1000:3 2000:4");
}

static void spreadsheets_are_read(void **state)
{
	reads_as("\xef\xbb\xbftime,size\r\n0,1\r\n1,2\r\n", "0:1 1000:2");
	reads_as("\xef\xbb\xbf"
		 "0,1\r\n\r\n1,2",
		 "0:1 1000:2");
	reads_as("\"time\",\"size\",\"note\"\n\"0\",\"1\",\"a, \"\"b\"\"\nc\"\n \"1\" ,\t2 ,d\n",
		 "0:1 1000:2");
}

static void the_second_column_may_be_tokens(void **state)
{
	CLEANUP_ARRIVALS struct gs_arrivals a = { 0 }, b = { 0 };

	assert_int_equal(parse("time,tokens\n0,129\n", 18, &a, NULL), 0);
	assert_int_equal(parse("time,size\n0,129\n", 16, &b, NULL), 0);
	assert_true(a.tokens);
	assert_false(b.tokens);
}

static void a_line_that_is_wrong_is_named(void **state)
{
	refused("", "t.csv: no arrivals");
	refused("\n\r\n\n", "no arrivals");
	refused("time,size\n", "no arrivals");
	refused("TIMESTAMP,ContextTokens\n", "t.csv:1: no column 'time' (seconds) or 'time_ms'");
	refused("time;size\n1;2\n", "t.csv:1: no column 'time'");
	refused("time,time_ms\n", "two columns for the time");
	refused("time,size,tokens\n", "two columns for the size");
	refused("0,1,2\n", "t.csv:1: 3 columns need a header");
	refused("time,size\n\n0,1\nx,2\n", "t.csv:4: time: 'x' is not a number");
	refused("time,size\n0,1\n1\n", "t.csv:3: 1 columns, and the first line has 2");
	refused("time,size\n0,1,\n", "t.csv:2: 3 columns, and the first line has 2");
	refused("time,size\n0,\n", "t.csv:2: size: ");
	refused("time,tokens\n0,1.5\n", "t.csv:2: tokens: ");
	refused("time,x\n\"0\",\"a\nb\"\nz,\n", "t.csv:4: time: 'z'");
}

static void numbers_out_of_range_are_refused(void **state)
{
	refused("-1,1\n", "t.csv:1: time: -1 is out of range");
	refused("0,1\nnan,1\n", "t.csv:2: time: ");
	refused("0,1\ninf,1\n", "t.csv:2: time: ");
	refused("0,1\n1e999,1\n", "t.csv:2: time: ");
	refused("0,0\n", "t.csv:1: size: ");
	refused("0,-1\n", "t.csv:1: size: ");
	refused("0,10001\n", "t.csv:1: size: ");
	refused("0,18446744073709551617\n", "t.csv:1: size: ");
	refused("0,1\n86400,1\n86401,1\n", "t.csv:3: more than 24 hours from the first arrival");
	refused("0,1\n1.0000000000000000000000000000000000000000000000000000000000000000e5,1\n",
		"t.csv:2: a number of 64 characters");
}

static void bytes_that_are_no_text_are_refused(void **state)
{
	static const char nul[] = "0,1\n1\0,2\n", quoted[] = "0,1\n\"1\0\",2\n";

	refused_bytes(nul, sizeof(nul) - 1, "t.csv:2: byte 0x00");
	refused_bytes(quoted, sizeof(quoted) - 1, "t.csv:2: byte 0x00");
	refused("\x7f"
		"ELF\x02\x01\x01",
		"byte 0x02");
	refused("0,1\r1,2\r", "t.csv:1: a CR without LF");
	refused("0,1\n\"1,2\n", "t.csv:2: a quote is not closed");
	refused("0,1\n\"", "t.csv:2: a quote is not closed");
	refused("0,1\n\"1\"2,1\n", "t.csv:2: text follows a closed quote");
	refused("0,1\n1\"2,1\n", "t.csv:2: a quote within a field");
}

static void too_much_is_refused(void **state)
{
	CLEANUP_FREE char *many = malloc(2 * (GS_ARRIVALS_MAX + 2) + 1);
	CLEANUP_ARRIVALS struct gs_arrivals a = { 0 };
	struct gs_error err = { 0 };
	char wide[200];

	memset(wide, ',', sizeof(wide));
	refused_bytes(wide, sizeof(wide), "t.csv:1: more than 64 columns");
	assert_non_null(many);
	for (unsigned int i = 0; i <= GS_ARRIVALS_MAX; i++)
		memcpy(many + 2 * i, "0\n", 3);
	refused(many, "t.csv:1000001: more than 1000000 arrivals");
	many[2 * GS_ARRIVALS_MAX] = '\0';
	assert_int_equal(parse(many, strlen(many), &a, &err), 0);
	assert_int_equal(a.n, GS_ARRIVALS_MAX);
}

/* Each text that a good one is cut to is read or refused, and nothing else happens. */
static void any_part_of_a_trace_does_no_harm(void **state)
{
	static const char text[] =
		"\xef\xbb\xbf\"time\",size,\"a\"\"b\"\r\n\"1.5\",2,\"\r\n\"\r\n2,3,x";

	for (size_t from = 0; from < sizeof(text); from++)
		for (size_t to = from; to < sizeof(text); to++) {
			CLEANUP_ARRIVALS struct gs_arrivals a = { 0 };
			struct gs_error err = { 0 };
			int r = parse(text + from, to - from, &a, &err);

			assert_true(r ? r < 0 && err.text[0] && !a.n : a.n > 0);
		}
}

static void times_may_count_from_the_begin(void **state)
{
	static const unsigned char text[] = "2,1\n3,1\n", late[] = "0,1\n1700000000,1\n";
	CLEANUP_ARRIVALS struct gs_arrivals a = { 0 };
	struct gs_error err = { 0 };

	assert_int_equal(gs_arrivals_parse("t", text, 8, false, &a, &err), 0);
	assert_int_equal(a.at[0].ns, 2000 * MS);
	assert_true(gs_arrivals_parse("t", late, sizeof(late) - 1, false, &a, &err) < 0);
	assert_string_equal(err.text, "t:2: more than 24 hours from the begin");
}

static void only_regular_files_are_read(void **state)
{
	char dir[] = "/tmp/arrivals.XXXXXX", path[64];
	struct gs_arrivals a = { 0 };
	struct gs_error none = { 0 }, folder = { 0 }, fifo = { 0 };

	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/fifo", dir);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_true(gs_arrivals_read("/nonexistent.csv", true, &a, &none) < 0);
	assert_non_null(strstr(none.text, "/nonexistent.csv: "));
	assert_true(gs_arrivals_read(dir, true, &a, &folder) < 0);
	assert_true(gs_arrivals_read(path, true, &a, &fifo) < 0);
	assert_non_null(strstr(fifo.text, "not a regular file"));
	unlink(path);
	rmdir(dir);
}

static void a_file_is_told_from_a_kind(void **state)
{
	assert_true(gs_arrivals_is_file("a.csv"));
	assert_true(gs_arrivals_is_file("A.CSV"));
	assert_true(gs_arrivals_is_file("./a"));
	assert_false(gs_arrivals_is_file("poisson"));
	assert_false(gs_arrivals_is_file(".csv"));
}

/* The sums are what sha256sum prints. */
static void the_hash_is_sha256(void **state)
{
	static const struct {
		size_t n;
		const char *sum;
	} of_a[] = {
		{ 0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" },
		{ 1, "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb" },
		{ 55, "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318" },
		{ 56, "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a" },
		{ 63, "7d3e74a05d7db15bce4ad9ec0658ea98e3f06eeecf16b4c6fff2da457ddc2f34" },
		{ 64, "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb" },
		{ 65, "635361c48bb9eab14198e76ea8ab7f1a41685d6ad62aa9146d301d4f17eb0ae0" },
		{ 1000, "41edece42d63e8d9bf515a9ba6932e1c20cbc9f5a5d134645adb5db1b9737ea3" },
	};
	char text[1000], sum[GS_SHA256_LEN];

	memset(text, 'a', sizeof(text));
	for (size_t i = 0; i < sizeof(of_a) / sizeof(of_a[0]); i++) {
		gs_sha256(text, of_a[i].n, sum);
		assert_string_equal(sum, of_a[i].sum);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_trace_has_times_and_sizes),
		cmocka_unit_test(lines_may_be_in_any_order),
		cmocka_unit_test(spreadsheets_are_read),
		cmocka_unit_test(the_second_column_may_be_tokens),
		cmocka_unit_test(a_line_that_is_wrong_is_named),
		cmocka_unit_test(numbers_out_of_range_are_refused),
		cmocka_unit_test(bytes_that_are_no_text_are_refused),
		cmocka_unit_test(too_much_is_refused),
		cmocka_unit_test(any_part_of_a_trace_does_no_harm),
		cmocka_unit_test(times_may_count_from_the_begin),
		cmocka_unit_test(only_regular_files_are_read),
		cmocka_unit_test(a_file_is_told_from_a_kind),
		cmocka_unit_test(the_hash_is_sha256),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
