// SPDX-License-Identifier: MIT
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "basic/cleanup.h"
#include "rm/setting.h"

static void test_table(void **state)
{
	struct gpusched_settings set = { 0 };

	for (unsigned int i = 0; i < GS_NFIELDS; i++) {
		const struct gs_setting *s = &gs_settings[i];
		uint32_t n = 0;

		assert_ptr_equal(gs_setting_of(GS_BIT(i)), s);
		assert_true(gs_field_in_range(GS_BIT(i), s->def));
		assert_true(gs_field_in_range(GS_BIT(i), s->max));
		assert_false(gs_field_in_range(GS_BIT(i), s->max + 1));
		while (s->words && s->words[n])
			n++;
		assert_int_equal(n, s->words ? s->max + 1 : 0);
		gs_field_put(&set, GS_BIT(i), s->max);
		assert_int_equal(set.valid, (1u << (i + 1)) - 1);
		assert_int_equal(gs_field_get(&set, GS_BIT(i)), s->max);
	}
	assert_int_equal(set.timeslice_us, GPUSCHED_TIMESLICE_MAX_US);
	assert_int_equal(set.interleave, GPUSCHED_INTERLEAVE_HIGH);
	assert_int_equal(set.preempt_mode, GPUSCHED_PREEMPT_CILP);
	assert_int_equal(set.runnable, 1);
}

static void test_parse(void **state)
{
	static const struct {
		const char *name, *text;
		int result;
		uint32_t value;
		const char *word; /* must be in the error's text */
	} cases[] = {
		{ "timeslice", "20us", 0, 20, "" },
		{ "timeslice_us", "2ms", 0, 2000, "" },
		{ "timeslice", "0", -ERANGE, 0, "range" },
		{ "timeslice", "low", -EINVAL, 0, "time" },
		{ "interleave", "High", 0, GPUSCHED_INTERLEAVE_HIGH, "" },
		{ "interleave", "1", 0, GPUSCHED_INTERLEAVE_MEDIUM, "" },
		{ "interleave", "3", -EINVAL, 0, "low, medium or high" },
		{ "preempt_mode", "cta", 0, GPUSCHED_PREEMPT_CTA, "" },
		{ "preempt_mode", "low", -EINVAL, 0, "wfi, cta or cilp" },
	};

	for (size_t i = 0; i < GS_COUNT(cases); i++) {
		uint32_t bit = gs_setting_find(cases[i].name, strlen(cases[i].name)), value = 0;
		struct gs_error err = { 0 };
		int r = gs_setting_parse(bit, cases[i].text, &value, &err);

		if (r != cases[i].result || value != cases[i].value ||
		    !strstr(err.text, cases[i].word))
			fail_msg("%s=%s: %d, %u, %s", cases[i].name, cases[i].text, r, value,
				 err.text);
	}
	assert_int_equal(gs_setting_find("runnable", 8), 0);
	assert_int_equal(gs_setting_find("time", 4), 0);
	assert_string_equal(gs_setting_word(GPUSCHED_PREEMPT_MODE, GPUSCHED_PREEMPT_WFI), "wfi");
	assert_null(gs_setting_word(GPUSCHED_PREEMPT_MODE, 3));
	assert_null(gs_setting_word(GPUSCHED_TIMESLICE, 1));
}

static void test_check(void **state)
{
	struct gs_error err = { 0 };

	assert_int_equal(gs_setting_check(GPUSCHED_TIMESLICE, 100000001, &err), -ERANGE);
	assert_string_equal(err.text, "timeslice_us is out of range: 1 to 100000000");
	err = (struct gs_error){ 0 };
	assert_int_equal(gs_setting_check(GPUSCHED_INTERLEAVE, 1ull << 32, &err), -ERANGE);
	assert_string_equal(err.text, "interleave must be low, medium or high");
	assert_int_equal(gs_field_op(GPUSCHED_RUNNABLE, 0), GS_RM_SUSPEND);
	assert_int_equal(gs_field_op(GPUSCHED_RUNNABLE, 1), GS_RM_RESUME);
	assert_int_equal(gs_field_op(GPUSCHED_INTERLEAVE, 0), GS_RM_SET_INTERLEAVE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_check),
	};

	return cmocka_run_group_tests_name("setting", tests, NULL, NULL);
}
