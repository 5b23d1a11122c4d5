// SPDX-License-Identifier: MIT
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "basic/cleanup.h"
#include "basic/json_sheet.h"

static char *shout(const json_t *row)
{
	const char *name = json_string_value(gs_json_at(row, "name"));
	char *text = NULL;

	return name && asprintf(&text, "%s!", name) > 0 ? text : NULL;
}

static const struct gs_column columns[] = {
	{ "name", "NAME", 0, 6 },
	{ "is.timeslice_us", "US", GS_COL_RIGHT, 5 },
	{ "ok", "OK", 0, 3 },
	{ "extra" },
	{ "name", "LOUD", 0, 0, shout },
};

/* Prints the table with the given rows (a JSON array), and returns the text. */
static char *printed(enum gs_sheet_mode mode, const char *rows)
{
	CLEANUP_JSON json_t *all = json_loads(rows, 0, NULL);
	CLEANUP_SHEET struct gs_sheet *t = NULL;
	char *text = NULL;
	size_t size, i;
	json_t *row;
	FILE *f = open_memstream(&text, &size);

	assert_non_null(all);
	assert_non_null(f);
	assert_int_equal(gs_sheet_new(columns, GS_COUNT(columns), mode, f, &t), 0);
	json_array_foreach(all, i, row) {
		assert_int_equal(gs_sheet_row(t, row), 0);
	}
	assert_int_equal(gs_sheet_end(t), 0);
	fclose(f);
	return text;
}

static const char rows[] = "[{\"name\":\"a\",\"is\":{\"timeslice_us\":20},\"ok\":true},"
			   "{\"name\":\"bb\",\"is\":{\"timeslice_us\":null},\"ok\":false},{}]";

static void test_tenths(void **state)
{
	static const struct gs_column ms[] = { { "ms", "MS", GS_COL_TENTHS } };
	CLEANUP_JSON json_t *row = json_pack("{s:f}", "ms", 9695.44),
			    *none = json_pack("{s:n}", "ms"), *whole = json_pack("{s:i}", "ms", 7);
	CLEANUP_SHEET struct gs_sheet *t = NULL;
	CLEANUP_FREE char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	assert_int_equal(gs_sheet_new(ms, 1, GS_SHEET_PLAIN, f, &t), 0);
	assert_int_equal(gs_sheet_row(t, row), 0);
	assert_int_equal(gs_sheet_row(t, whole), 0);
	assert_int_equal(gs_sheet_row(t, none), 0);
	assert_int_equal(gs_sheet_end(t), 0);
	fclose(f);
	assert_string_equal(text, "    MS\n9695.4\n   7.0\n     -\n");
}

/* Prints @n rows in a terminal of @width. */
static char *fitted_rows(size_t n, size_t width)
{
	static const struct gs_column cols[] = {
		{ "id", "ID", GS_COL_RIGHT },
		{ "mode", "MODE", .spare = 1 },
		{ "known", "KNOWN", .spare = 2 },
		{ "why", "WHY", GS_COL_WRAP },
	};
	CLEANUP_JSON json_t *row =
		json_pack("{s:i,s:s,s:s,s:s}", "id", 7, "mode", "cilp", "known", "tap", "why",
			  "a person set it for a while only, and may go");
	CLEANUP_SHEET struct gs_sheet *t = NULL;
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	assert_int_equal(gs_sheet_new(cols, GS_COUNT(cols), GS_SHEET_PLAIN, f, &t), 0);
	while (n--)
		assert_int_equal(gs_sheet_row(t, row), 0);
	assert_int_equal(gs_sheet_fit(t, width), 0);
	assert_int_equal(gs_sheet_end(t), 0);
	fclose(f);
	return text;
}

static char *fitted(size_t width)
{
	return fitted_rows(1, width);
}

static void test_fits(void **state)
{
	CLEANUP_FREE char *all = fitted(0), *wide = fitted(58), *wrapped = fitted(57);
	CLEANUP_FREE char *narrow = fitted(37), *least = fitted(20);
	CLEANUP_FREE char *empty = fitted_rows(0, 5);

	assert_string_equal(all, "ID MODE KNOWN WHY\n"
				 " 7 cilp tap   a person set it for a while only, and may go\n");
	assert_string_equal(wide, all);
	assert_string_equal(wrapped, "ID MODE KNOWN WHY\n"
				     " 7 cilp tap   a person set it for a while only, and may\n"
				     "              go\n");
	assert_string_equal(narrow, "ID MODE WHY\n"
				    " 7 cilp a person set it for a while\n"
				    "        only, and may go\n"
				    "(too narrow for KNOWN: '| cat' shows all)\n");
	/* the narrowest table */
	assert_string_equal(least, "ID WHY\n"
				   " 7 a person set it for a\n"
				   "   while only, and may go\n"
				   "(too narrow for KNOWN, MODE: '| cat' shows all)\n");
	assert_string_equal(empty, "");
}

static void test_plain(void **state)
{
	CLEANUP_FREE char *text = printed(GS_SHEET_PLAIN, rows);

	assert_string_equal(text, "NAME US OK  LOUD\n"
				  "a    20 yes a!\n"
				  "bb    - no  bb!\n"
				  "-     - -   -\n");
}

static void test_json_lines(void **state)
{
	CLEANUP_FREE char *text = printed(GS_SHEET_JSON, rows);

	assert_string_equal(
		text,
		"{\"name\":\"a\",\"is\":{\"timeslice_us\":20},\"ok\":true,\"extra\":null}\n"
		"{\"name\":\"bb\",\"is\":{\"timeslice_us\":null},\"ok\":false,\"extra\":null}\n"
		"{\"name\":null,\"ok\":null,\"extra\":null}\n");
}

static void test_stream(void **state)
{
	CLEANUP_FREE char *text = printed(GS_SHEET_STREAM, rows);

	assert_string_equal(text, "NAME      US OK  LOUD\n"
				  "a         20 yes a!\n"
				  "bb         - no  bb!\n"
				  "-          - -   -\n");
}

static void test_empty(void **state)
{
	CLEANUP_FREE char *plain = printed(GS_SHEET_PLAIN, "[]");
	CLEANUP_FREE char *json = printed(GS_SHEET_JSON, "[]");

	assert_string_equal(plain, "");
	assert_string_equal(json, "");
}

static void test_hostile_text(void **state)
{
	CLEANUP_FREE char *text = printed(GS_SHEET_STREAM, "[{\"name\":\"\\u001b[2J\\n\"}]");

	assert_null(strchr(text, 0x1b));
	assert_non_null(strstr(text, "\\x1b[2J\\x0a"));
}

static void test_cells(void **state)
{
	static const struct {
		const char *json, *text;
	} cases[] = {
		{ "[null]", "-" },        { "[\"\"]", "-" },  { "[\"x\"]", "x" },
		{ "[12]", "12" },         { "[1.5]", "1.5" }, { "[true]", "yes" },
		{ "[[1,\"a\"]]", "1,a" }, { "[[]]", "-" },    { "[{\"a\":1}]", "{\"a\":1}" },
	};

	for (size_t i = 0; i < GS_COUNT(cases); i++) {
		CLEANUP_JSON json_t *all = json_loads(cases[i].json, 0, NULL);
		CLEANUP_FREE char *text = gs_json_cell(json_array_get(all, 0));

		assert_string_equal(text, cases[i].text);
	}
}

static void test_full_disk(void **state)
{
	CLEANUP_JSON json_t *row = json_pack("{s:s}", "name", "a");
	CLEANUP_SHEET struct gs_sheet *t = NULL;
	CLEANUP_FILE FILE *full = fopen("/dev/full", "we");

	assert_non_null(full);
	assert_int_equal(gs_sheet_new(columns, GS_COUNT(columns), GS_SHEET_PLAIN, full, &t), 0);
	assert_int_equal(gs_sheet_row(t, row), 0);
	assert_int_equal(gs_sheet_end(t), -ENOSPC);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain),        cmocka_unit_test(test_fits),
		cmocka_unit_test(test_tenths),       cmocka_unit_test(test_json_lines),
		cmocka_unit_test(test_stream),       cmocka_unit_test(test_empty),
		cmocka_unit_test(test_hostile_text), cmocka_unit_test(test_cells),
		cmocka_unit_test(test_full_disk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
