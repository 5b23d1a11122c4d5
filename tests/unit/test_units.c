/* SPDX-License-Identifier: MIT */
/* test_units.c - check figures with their units */
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "basic/cleanup.h"
#include "basic/term.h"
#include "basic/units.h"

static void times(void **state)
{
	static const struct {
		double ns;
		const char *text;
	} cases[] = {
		{ 0, "0" },
		{ 500, "500 ns" },
		{ 1000, "1 us" },
		{ 524e3, "524 us" },
		{ 2048e3, "2 ms" },
		{ 1500e3, "1.5 ms" },
		{ 9.96e6, "10 ms" },
		{ 200e6, "200 ms" },
		{ 4.2e9, "4.2 s" },
		{ 59.6e9, "1 min 00 s" },
		{ 200e9, "3 min 20 s" },
		{ 1500e9, "25 min" },
		{ 3599e9, "1 h 00 min" },
		{ 10920e9, "3 h 02 min" },
		{ 40800e9, "11 h 20 min" },
		{ -1, "-" },
		{ NAN, "-" },
	};
	char buf[GS_UNITS_TEXT];

	for (size_t i = 0; i < GS_COUNT(cases); i++)
		assert_string_equal(gs_units_time(cases[i].ns, buf), cases[i].text);
}

static void bytes_and_parts(void **state)
{
	char buf[GS_UNITS_TEXT];

	assert_string_equal(gs_units_bytes(0, buf), "0");
	assert_string_equal(gs_units_bytes(4096, buf), "< 1 MiB");
	assert_string_equal(gs_units_bytes(700.0 * (1 << 20), buf), "700 MiB");
	assert_string_equal(gs_units_bytes(1.5 * (1 << 30), buf), "1.5 GiB");
	assert_string_equal(gs_units_bytes(36.1 * (1 << 30), buf), "36 GiB");
	assert_string_equal(gs_units_percent(0, buf), "0 %");
	assert_string_equal(gs_units_percent(0.01, buf), "< 0.1 %");
	assert_string_equal(gs_units_percent(3.34, buf), "3.3 %");
	assert_string_equal(gs_units_percent(93.4, buf), "93 %");
	assert_string_equal(gs_units_percent(NAN, buf), "-");
}

/* Text is cut in the middle, and a wide character is never cut in two. */
static void shortened(void **state)
{
	static const struct {
		const char *text;
		size_t most;
		const char *cut;
	} cases[] = {
		{ "short", 10, "short" },
		{ "0123456789abcdef", 10, "0123...def" },
		{ "\xe5\xad\xa6\xe7\xbf\x92\xe3\x83\x8e\xe3\x83\xbc\xe3\x83\x88", 10,
		  "\xe5\xad\xa6\xe7\xbf\x92\xe3\x83\x8e\xe3\x83\xbc\xe3\x83\x88" },
		{ "\xe5\xad\xa6\xe7\xbf\x92\xe3\x83\x8e\xe3\x83\xbc\xe3\x83\x88", 8,
		  "\xe5\xad\xa6...\xe3\x83\x88" },
	};

	for (size_t i = 0; i < GS_COUNT(cases); i++) {
		CLEANUP_FREE char *cut = gs_term_shorten(cases[i].text, cases[i].most);

		assert_string_equal(cut, cases[i].cut);
		assert_true(gs_term_columns(cut) <= cases[i].most);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times),
		cmocka_unit_test(bytes_and_parts),
		cmocka_unit_test(shortened),
	};

	setlocale(LC_CTYPE, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
