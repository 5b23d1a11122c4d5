/* SPDX-License-Identifier: MIT */
/*
 * scenario_world.h - loads a scenario from text, runs it, and gives its figures
 */
#ifndef TESTS_UNIT_SCENARIO_WORLD_H
#define TESTS_UNIT_SCENARIO_WORLD_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "basic/cleanup.h"
#include "sim/scenario.h"

static char path[] = "/tmp/gpusched-scenario-XXXXXX";

static inline int make_file(void **state)
{
	int fd = mkstemp(path);

	if (fd < 0)
		return -1;
	close(fd);
	return 0;
}

static inline int remove_file(void **state)
{
	return unlink(path);
}

static inline struct sim_scenario *load_row(const char *text, const char *row)
{
	struct sim_scenario *s = NULL;
	struct gs_error err = { 0 };
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
	if (sim_scenario_load(path, row, &s, &err) < 0)
		fail_msg("%s", err.text);
	return s;
}

static inline struct sim_scenario *load(const char *text)
{
	return load_row(text, NULL);
}

static inline struct sim_result *run_with(const struct sim_scenario *s,
					  const struct sim_run_options *o)
{
	struct sim_result *r = NULL;
	struct gs_error err = { 0 };

	if (sim_scenario_run(s, o, &r, &err) < 0)
		fail_msg("%s", err.text);
	return r;
}

static inline struct sim_result *run(const struct sim_scenario *s)
{
	struct sim_run_options o = { 0 };

	return run_with(s, &o);
}

static inline double metric(const struct sim_result *r, const char *name)
{
	double v = 0;

	assert_int_equal(sim_result_metric(r, name, &v), 0);
	return v;
}

#define HEAD "[scenario]\nduration_s = 3\n"
#define LC "[process lc]\nkind = lc\narrivals = closed\nkernel_us = 100\ngap_us = 5000\n"
#define BE "[process be]\nkind = be\nkernel_us = 1000\n"

static inline void refused_row(const char *text, const char *row, const char *word)
{
	struct sim_scenario *s = NULL;
	struct gs_error err = { 0 };
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
	assert_true(sim_scenario_load(path, row, &s, &err) < 0);
	assert_null(s);
	if (!strstr(err.text, word) || !strstr(err.text, path))
		fail_msg("'%s' does not say '%s'", err.text, word);
	assert_null(strchr(err.text, '\n'));
}

static inline void refused(const char *text, const char *word)
{
	refused_row(text, NULL, word);
}

static inline double of(const char *text, const char *name)
{
	CLEANUP(sim_scenario_freep) struct sim_scenario *s = load(text);
	CLEANUP(sim_result_freep) struct sim_result *r = run(s);

	return metric(r, name);
}

#endif /* TESTS_UNIT_SCENARIO_WORLD_H */
