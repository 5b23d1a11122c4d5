// SPDX-License-Identifier: MIT
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "basic/cleanup.h"
#include "basic/parse.h"

static void test_us(void **state)
{
	static const struct {
		const char *text;
		int result;
		uint64_t us;
	} cases[] = {
		{ "20", 0, 20 },
		{ "20us", 0, 20 },
		{ "2ms", 0, 2000 },
		{ "100s", 0, 100000000 },
		{ "0x10", 0, 16 },
		{ "0", -ERANGE, 0 },
		{ "101s", -ERANGE, 0 },
		{ "99999999999999999999", -ERANGE, 0 },
		{ "18446744073709551615s", -ERANGE, 0 },
		{ "", -EINVAL, 0 },
		{ "-1", -EINVAL, 0 },
		{ "+1", -EINVAL, 0 },
		{ " 1", -EINVAL, 0 },
		{ "1 ", -EINVAL, 0 },
		{ "20 us", -EINVAL, 0 },
		{ "us", -EINVAL, 0 },
		{ "1m30s", 0, 90000000 },
		{ "1s5ms3us", 0, 1005003 },
		{ "1.5ms", 0, 1500 },
		{ "0.5us", -ERANGE, 0 },
		{ "1.5us", -EINVAL, 0 },
		{ "2m", -ERANGE, 0 },
		{ "1h", -ERANGE, 0 },
		{ "1s1s", -EINVAL, 0 },
		{ "1ms1s", -EINVAL, 0 },
		{ "1s2", -EINVAL, 0 },
		{ "1x", -EINVAL, 0 },
		{ "nans", -EINVAL, 0 },
		{ "1e3", -EINVAL, 0 },
	};

	for (size_t i = 0; i < GS_COUNT(cases); i++) {
		struct gs_error err = {};
		uint64_t us = 77;

		assert_int_equal(gs_parse_us(cases[i].text, 1, 100000000, &us, &err),
				 cases[i].result);
		assert_int_equal(us, cases[i].result ? 77 : cases[i].us);
		assert_int_equal(!err.text[0], !cases[i].result);
		if (cases[i].result == -ERANGE)
			assert_non_null(strstr(err.text, "1us to 100s"));
	}
}

static void test_u64(void **state)
{
	struct gs_error err = {};
	uint64_t v = 5;

	assert_int_equal(gs_parse_u64("18446744073709551615", 0, UINT64_MAX, &v, NULL), 0);
	assert_true(v == UINT64_MAX);
	assert_int_equal(gs_parse_u64("18446744073709551616", 0, UINT64_MAX, &v, NULL), -ERANGE);
	assert_int_equal(gs_parse_u64("7", 8, 9, &v, &err), -ERANGE);
	assert_string_equal(err.text, "7 is out of range: 8 to 9");
	assert_int_equal(gs_parse_u64("8x", 0, 9, &v, NULL), -EINVAL);
	assert_true(v == UINT64_MAX);
}

static void sizes_have_units(void **state)
{
	const uint64_t most = 1ull << 44;
	struct gs_error err = {};
	uint64_t v = 5;

	assert_int_equal(gs_parse_bytes("40G", most, &v, NULL), 0);
	assert_true(v == 40ull << 30);
	assert_int_equal(gs_parse_bytes("1.5t", most, &v, NULL), 0);
	assert_true(v == 1536ull << 30);
	assert_int_equal(gs_parse_bytes("512MiB", most, &v, NULL), 0);
	assert_true(v == 512ull << 20);
	assert_int_equal(gs_parse_bytes("1KB", most, &v, NULL), 0);
	assert_true(v == 1024);
	assert_int_equal(gs_parse_bytes("40", most, &v, &err), -EINVAL);
	assert_string_equal(err.text, "'40' is not a size: write 512M, 40G or 1.5T");
	assert_int_equal(gs_parse_bytes("-1G", most, &v, NULL), -EINVAL);
	assert_int_equal(gs_parse_bytes("40Gx", most, &v, NULL), -EINVAL);
	assert_int_equal(gs_parse_bytes("17T", most, &v, NULL), -ERANGE);
	assert_int_equal(gs_parse_bytes("0G", most, &v, NULL), -ERANGE);
	assert_true(v == 1024);
}

static void test_double(void **state)
{
	double v = 3;

	assert_int_equal(gs_parse_double("2.5", 1, 10, &v, NULL), 0);
	assert_true(v == 2.5);
	assert_int_equal(gs_parse_double("nan", 1, 10, &v, NULL), -EINVAL);
	assert_int_equal(gs_parse_double("inf", 1, 10, &v, NULL), -ERANGE);
	assert_int_equal(gs_parse_double("2,5", 1, 10, &v, NULL), -EINVAL);
	assert_int_equal(gs_parse_double("", 1, 10, &v, NULL), -EINVAL);
	assert_true(v == 2.5);
}

static void test_time_in(void **state)
{
	double d = 3;
	uint64_t u = 3;

	assert_true(gs_parse_unit("suspend_limit_ms=") == 1e3);
	assert_true(gs_parse_unit("gap-us") == 1 && gs_parse_unit("start_s") == 1e6);
	assert_true(gs_parse_unit("status") == 0 && gs_parse_unit("us") == 0);
	assert_int_equal(gs_parse_double_in(1e6, "0.5", 0, 10, &d, NULL), 0);
	assert_true(d == 0.5);
	assert_int_equal(gs_parse_double_in(1e6, "1500ms", 0, 10, &d, NULL), 0);
	assert_true(d == 1.5);
	assert_int_equal(gs_parse_double_in(1e6, "1h", 0, 10, &d, NULL), -ERANGE);
	assert_int_equal(gs_parse_double_in(0, "1s", 0, 10, &d, NULL), -EINVAL);
	assert_int_equal(gs_parse_u64_in(1e3, "7", 1, 100000, &u, NULL), 0);
	assert_int_equal(u, 7);
	assert_int_equal(gs_parse_u64_in(1e3, "1m", 1, 100000, &u, NULL), 0);
	assert_int_equal(u, 60000);
	assert_int_equal(gs_parse_u64_in(1, "0.3ms", 1, 100000, &u, NULL), 0);
	assert_int_equal(u, 300);
	assert_int_equal(gs_parse_u64_in(1e3, "20us", 1, 100000, &u, NULL), -ERANGE);
	assert_int_equal(gs_parse_u64_in(1e3, "1500us", 1, 100000, &u, NULL), -EINVAL);
	assert_int_equal(gs_parse_u64_in(0, "1s", 1, 100000, &u, NULL), -EINVAL);
	assert_int_equal(u, 300);
}

static void a_bare_length_is_in_seconds(void **state)
{
	struct gs_error err = {};
	uint64_t us = 0;

	assert_int_equal(gs_parse_length("5", 1000, 86400000000, &us, NULL), 0);
	assert_int_equal(us, 5000000);
	assert_int_equal(gs_parse_length("0.5", 1000, 86400000000, &us, NULL), 0);
	assert_int_equal(us, 500000);
	assert_int_equal(gs_parse_length("1m30s", 1000, 86400000000, &us, NULL), 0);
	assert_int_equal(us, 90000000);
	assert_int_equal(gs_parse_length("100000", 1000, 86400000000, &us, &err), -ERANGE);
	assert_string_equal(err.text, "100000s is out of range: 1ms to 24h");
	assert_int_equal(gs_parse_length("", 1000, 86400000000, &us, NULL), -EINVAL);
	assert_int_equal(gs_parse_length("1.2.3", 1000, 86400000000, &us, NULL), -EINVAL);
	assert_int_equal(us, 90000000);
}

static void test_bool(void **state)
{
	bool v = false;

	assert_int_equal(gs_parse_bool("Yes", &v, NULL), 0);
	assert_true(v);
	assert_int_equal(gs_parse_bool("off", &v, NULL), 0);
	assert_false(v);
	assert_int_equal(gs_parse_bool("maybe", &v, NULL), -EINVAL);
}

static void test_first_error_wins(void **state)
{
	struct gs_error err = {};

	assert_int_equal(gs_fail(&err, -ENOENT, "first %d", 1), -ENOENT);
	assert_int_equal(gs_fail(&err, -EPERM, "second"), -EPERM);
	assert_string_equal(err.text, "first 1");
	assert_int_equal(err.code, -ENOENT);
	assert_int_equal(gs_fail(NULL, -EIO, "nobody listens"), -EIO);
}

static void test_exit_codes(void **state)
{
	assert_int_equal(gs_error_exit(0), 0);
	assert_int_equal(gs_error_exit(-ENOENT), 1);
	assert_int_equal(gs_error_exit(-EREMOTEIO), 1);
	assert_int_equal(gs_error_exit(-EINVAL), 2);
	assert_int_equal(gs_error_exit(-ERANGE), 2);
	assert_int_equal(gs_error_exit(-EPERM), 3);
	assert_int_equal(gs_error_exit(-ENODEV), 3);
	assert_int_equal(gs_error_exit(-ENOTSUP), 3);
	assert_int_equal(gs_error_exit(-ECONNREFUSED), 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_us),         cmocka_unit_test(test_u64),
		cmocka_unit_test(test_double),     cmocka_unit_test(sizes_have_units),
		cmocka_unit_test(test_time_in),    cmocka_unit_test(a_bare_length_is_in_seconds),
		cmocka_unit_test(test_bool),       cmocka_unit_test(test_first_error_wins),
		cmocka_unit_test(test_exit_codes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
