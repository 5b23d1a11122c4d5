/* SPDX-License-Identifier: MIT */
/* test_params.c - check the file of the GPU model's parameters, its defaults, and broken files */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "sim/params.h"

static char path[] = "/tmp/gpusched-params-XXXXXX";

static int make_file(void **state)
{
	int fd = mkstemp(path);

	if (fd < 0)
		return -1;
	close(fd);
	return 0;
}

static int remove_file(void **state)
{
	return unlink(path);
}

static void content(const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void refused(const char *text, const char *line, const char *word)
{
	struct sim_params p, before;
	char *error = NULL;

	memset(&p, 0x5a, sizeof(p));
	before = p;
	content(text);
	assert_int_equal(sim_params_load(path, &p, &error), -EINVAL);
	assert_memory_equal(&p, &before, sizeof(p)); /* nothing was changed */
	assert_non_null(error);
	assert_non_null(strstr(error, line));
	assert_non_null(strstr(error, word));
	assert_null(strchr(error, '\n'));
	free(error);
}

static void empty_file_is_the_default(void **state)
{
	struct sim_params a, b;

	content("# nothing\n");
	sim_params_default(&a);
	assert_int_equal(sim_params_load(path, &b, NULL), 0);
	assert_memory_equal(&a, &b, sizeof(a));
	assert_string_equal(a.name, "h200");
	assert_int_equal(a.call[SIM_CALL_SET_TIMESLICE].min_ns, 250000);
	assert_int_equal(a.call[SIM_CALL_SET_TIMESLICE].max_ns, 490000);
}

static void installed_file_holds_the_defaults(void **state)
{
	const char *file = getenv("GPUSCHED_H200_CONF");
	struct sim_params a, b;
	char *error = NULL;

	if (!file)
		skip();
	sim_params_default(&a);
	assert_int_equal(sim_params_load(file, &b, &error), 0);
	assert_memory_equal(&a, &b, sizeof(a));
}

/* Times of saving and of switching, relative to an H200's. */
static const struct {
	const char *name;
	double save, change, unit;
} gpus[] = {
	{ "switch-0.2", 0.2, 0.2, 1.024 }, { "switch-0.4", 0.4, 0.4, 1.024 },
	{ "switch-0.7", 0.7, 0.7, 1.024 }, { "switch-1.7", 1.7, 1.7, 1.024 },
	{ "switch-2", 2, 2, 1.024 },       { "switch-3", 3, 3, 1.024 },
	{ "long-save", 3, 0.4, 1.024 },    { "long-switch", 0.4, 3, 1.024 },
	{ "other-unit", 1.7, 1.7, 1.28 },  { "unit-0.95", 1, 1, 0.95 },
	{ "unit-0.8", 1, 1, 0.8 },         { "clocks", 1, 1, 1.024 },
};

static void is_times(uint64_t ns, uint64_t h200_ns, double factor)
{
	assert_float_equal((double)ns, (double)h200_ns * factor, 1);
}

static void other_gpus_are_the_h200_with_other_times(void **state)
{
	const char *folder = getenv("GPUSCHED_GPUS");
	struct sim_params h200, p;

	if (!folder)
		skip();
	sim_params_default(&h200);
	for (size_t i = 0; i < sizeof(gpus) / sizeof(gpus[0]); i++) {
		double save = gpus[i].save, change = gpus[i].change;
		char file[512];

		snprintf(file, sizeof(file), "%s/%s.conf", folder, gpus[i].name);
		assert_int_equal(sim_params_load(file, &p, NULL), 0);
		assert_string_equal(p.name, gpus[i].name);
		is_times(p.slice_unit_ns, 1000, gpus[i].unit);
		is_times(p.save_idle_ns, h200.save_idle_ns, save);
		is_times(p.save_wfi_ns, h200.save_wfi_ns, save);
		is_times(p.save_cta_ns, h200.save_cta_ns, save);
		is_times(p.save_cilp_ns, h200.save_cilp_ns, save);
		is_times(p.start_ns, h200.start_ns, save);
		is_times(p.restore_cta_ns, h200.restore_cta_ns, save);
		is_times(p.restore_cilp_ns, h200.restore_cilp_ns, save);
		is_times(p.switch_wfi_ns, h200.switch_wfi_ns, change);
		is_times(p.switch_cta_ns, h200.switch_cta_ns, change);
		is_times(p.switch_cilp_ns, h200.switch_cilp_ns, change);
		is_times(p.switch_idle_ns, h200.switch_idle_ns, change);
		is_times(p.switch_copy_ns, h200.switch_copy_ns, change);
	}
}

static void values_are_taken(void **state)
{
	struct sim_params p;

	content("[gpu]\nname = small\nblocks_at_once = 7\nkernel_gap_us = 1.5\n"
		"[round]\ninterleave_honoured = yes\n[call]\npreempt_us = 100\nfree_us = 1-2.5\n");
	assert_int_equal(sim_params_load(path, &p, NULL), 0);
	assert_string_equal(p.name, "small");
	assert_int_equal(p.blocks_at_once, 7);
	assert_int_equal(p.kernel_gap_ns, 1500);
	assert_true(p.interleave_honoured);
	assert_int_equal(p.call[SIM_CALL_PREEMPT].min_ns, 100000);
	assert_int_equal(p.call[SIM_CALL_PREEMPT].max_ns, 100000);
	assert_int_equal(p.call[SIM_CALL_FREE].max_ns, 2500);
}

static void missing_file(void **state)
{
	struct sim_params p;

	assert_int_equal(sim_params_load("/nonexistent/h200.conf", &p, NULL), -ENOENT);
}

static void broken_files_are_refused_with_the_line(void **state)
{
	refused("[gpu]\nblocks = 7\n", ":2:", "blocks");
	refused("[gpux]\nblocks_at_once = 7\n", ":2:", "gpux");
	refused("[gpu]\nblocks_at_once = 0\n", ":2:", "");
	refused("[gpu]\nblocks_at_once = 1.5\n", ":2:", "1.5");
	refused("[gpu]\nblocks_at_once = many\n", ":2:", "many");
	refused("[gpu]\nname =\n", ":2:", "characters");
	refused("[gpu]\n\nqueue_depth = 8\nqueue_depth = 9\n", ":4:", "twice");
	refused("[round]\ninterleave_honoured = perhaps\n", ":2:", "perhaps");
	refused("[round]\ndefault_preempt_mode = 3\n", ":2:", "");
	refused("[call]\nfree_us = 5-2\n", ":2:", "");
	refused("[call]\nfree_us = 1-2-3\n", ":2:", "");
	refused("[call]\nfree_us = -1\n", ":2:", "");
	refused("just words\n", ":1:", "");
}

/* The parser has a buffer of 200 bytes, and took the rest of such a line for another one. */
static void long_comments_set_nothing(void **state)
{
	struct sim_params a, b;
	char text[4000];

	sim_params_default(&a);
	for (int n = 150; n < 3900; n = n < 260 ? n + 1 : n + 97) {
		memset(text, ' ', sizeof(text));
		memcpy(text, "[gpu]\n#", 7);
		strcpy(text + 7 + n, "name = other\n");
		content(text);
		assert_int_equal(sim_params_load(path, &b, NULL), 0);
		assert_memory_equal(&a, &b, sizeof(a));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(empty_file_is_the_default),
		cmocka_unit_test(installed_file_holds_the_defaults),
		cmocka_unit_test(other_gpus_are_the_h200_with_other_times),
		cmocka_unit_test(values_are_taken),
		cmocka_unit_test(long_comments_set_nothing),
		cmocka_unit_test(missing_file),
		cmocka_unit_test(broken_files_are_refused_with_the_line),
	};

	return cmocka_run_group_tests_name("params", tests, make_file, remove_file);
}
