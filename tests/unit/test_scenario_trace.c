// SPDX-License-Identifier: MIT
/* test_scenario_trace.c - check requests that arrive as a file says */
#include "scenario_world.h"

static char csv[sizeof(path) + 4];

/* A scenario with these arrivals; @more: further keys. The text is valid until the next call. */
static const char *by(const char *file, const char *more)
{
	static char text[400];

	snprintf(text, sizeof(text),
		 "[scenario]\nduration_s = 3\nwarmup_s = 1\n[process lc]\nkind = lc\n"
		 "arrivals = %s\nkernel_us = 100\n%s",
		 file, more);
	return text;
}

/* Writes the trace beside the scenario's file, and returns its name there. */
static const char *write_trace(const char *text)
{
	FILE *f;

	snprintf(csv, sizeof(csv), "%s.csv", path);
	f = fopen(csv, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
	return strrchr(csv, '/') + 1;
}

static int remove_both(void **state)
{
	unlink(csv);
	return remove_file(state);
}

static void requests_come_when_the_trace_says(void **state)
{
	CLEANUP(sim_scenario_freep) struct sim_scenario *s = NULL;
	CLEANUP(sim_result_freep) struct sim_result *r = NULL;

	s = load(by(write_trace("0.5,1\n0.1,1\n0.1,1\n0.9,40\n1.9,1\n"), ""));
	r = run(s);
	/* all of them come once more after the warm-up, which had four */
	assert_int_equal(r->processes[0].nlatency, 5);
	/* the latencies are sorted: one request waited for another that came at the same time */
	assert_true(r->processes[0].latency_ns[2] < 2 * 100000);
	assert_true(r->processes[0].latency_ns[3] > 2 * 100000);
	/* and one has 40 kernels */
	assert_true(r->processes[0].latency_ns[4] > 40 * 100000);
	assert_int_equal(r->processes[0].kernels, 44);
}

static void a_scenario_runs_its_trace_each_time(void **state)
{
	CLEANUP(sim_scenario_freep) struct sim_scenario *s = NULL;

	s = load(by(write_trace("0,3\n"), ""));
	for (int i = 0; i < 2; i++) {
		CLEANUP(sim_result_freep) struct sim_result *r = run(s);

		assert_int_equal(r->processes[0].nlatency, 1);
		assert_int_equal(r->processes[0].kernels, 3);
	}
}

static void the_size_multiplies_kernels_and_pieces(void **state)
{
	CLEANUP(sim_scenario_freep) struct sim_scenario *s = NULL;
	CLEANUP(sim_result_freep) struct sim_result *r = NULL;

	write_trace("time,tokens\n0,5\n");
	s = load(by(csv, "kernels = 2\nwait_every = 2\n"));
	r = run(s);
	assert_int_equal(r->processes[0].kernels, 10);
	assert_int_equal(r->processes[0].npieces, 5);
}

static void what_is_wrong_with_a_trace_is_said(void **state)
{
	refused(by(write_trace("0,1\nx,1\n"), ""), ".csv:2: time: 'x' is not a number");
	refused(by("none.csv", ""), "none.csv: No such file");
	refused(by("./none", ""), "./none: ");
	refused(by("none", ""), "must be one of poisson");
	refused(by(write_trace("0,1\n"), "burst = 2\n"), "a trace needs kind = lc and burst = 1");
	refused(by(csv, "kind = be\n"), "a trace needs kind = lc");
	refused(by(write_trace("0,1\n0,51\n"), "kernels = 2000\n"),
		"more than 100000 kernels (its line 2)");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(requests_come_when_the_trace_says),
		cmocka_unit_test(a_scenario_runs_its_trace_each_time),
		cmocka_unit_test(the_size_multiplies_kernels_and_pieces),
		cmocka_unit_test(what_is_wrong_with_a_trace_is_said),
	};

	return cmocka_run_group_tests(tests, make_file, remove_both);
}
