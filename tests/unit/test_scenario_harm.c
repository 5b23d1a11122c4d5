/* SPDX-License-Identifier: MIT */
/*
 * test_scenario_harm.c - check what scenarios do to programs: locks of the host, calls that wait,
 * fail or are not answered, channels that are removed, and programs that end themselves
 */
#include "scenario_world.h"

#include <math.h>

#define STAY "[process stay]\nkind = persistent\nkernel_us = 2000\n"
#define OTHER "[process other]\nkind = be\nkernel_us = 1000\n"
#define LONG "[scenario]\nduration_s = 12\n"
#define SUSPEND(ms, target) "at_ms = " ms "\ntarget = " target "\ndo = suspend\n"
#define RESUME(ms, target) "at_ms = " ms "\ntarget = " target "\ndo = resume\n"

static const char *end_of(const struct sim_result *r, size_t process)
{
	return sim_death_words[r->processes[process].died];
}

static void broken_faults_are_refused(void **state)
{
	refused("[scenario]\nfault = suspend\n" BE, "write OPERATION=STATUS");
	refused("[scenario]\nfault = sleep=0x3\n" BE, "write OPERATION=STATUS");
	refused("[scenario]\nfault = suspend=0\n" BE, "write OPERATION=STATUS");
	refused("[scenario]\nfault = suspend=0x3:maybe\n" BE, "write OPERATION=STATUS");
	refused("[scenario]\nfault = suspend=0x3:applied:x\n" BE, "write OPERATION=STATUS");
	refused(HEAD BE "dies_after_s = 0\n", "dies_after_s");
}

/* A block that stays for 4.29 s in CTA mode ends in its removal; the other one goes on. */
static void a_drain_without_end_removes(void **state)
{
	static const char text[] = LONG STAY "preempt_mode = cta\n" OTHER;
	CLEANUP(sim_scenario_freep) struct sim_scenario *s = load(text);
	CLEANUP(sim_result_freep) struct sim_result *r = run(s);

	assert_string_equal(end_of(r, 0), "removed");
	assert_string_equal(end_of(r, 1), "");
	assert_true(metric(r, "other.rate") > 600);
	assert_true(fabs(metric(r, "stay.died") - 1) < 0.1);
}

static void a_block_of_three_seconds_lives(void **state)
{
	static const char text[] = LONG "[process p]\nkind = be\nin_flight = 1\n"
					"kernel_us = 3000000\npreempt_mode = cta\n" OTHER;

	assert_true(of(text, "p.died") < 0.1);
	assert_true(of(text, "p.rate") > 0.2);
}

/* With a removal that never comes, the suspension is answered with BUSY_RETRY, but stays. */
static void a_suspension_waits_for_the_block(void **state)
{
	static const char text[] =
		LONG "gpus = 2\n" STAY "preempt_mode = cta\n[process far]\nkind = be\ngpu = 1\n"
		     "kernel_us = 1000\n[actions]\n" SUSPEND("2000", "stay") SUSPEND("2100", "far")
			     RESUME("2200", "far");
	CLEANUP(sim_scenario_freep) struct sim_scenario *s = load(text);
	CLEANUP(sim_result_freep) struct sim_result *r = NULL;

	s->params.drain_most_ns = 0;
	r = run(s);
	assert_int_equal(r->failed_calls, 1);
	assert_true(metric(r, "stay.rate") > 350); /* it never leaves */
	assert_true(metric(r, "stay.suspended_pct") > 85);
	/* another GPU's calls stand for those 4.3 s */
	assert_true(r->lock_ns > 4300000000u && r->lock_ns < 4310000000u);
	assert_true(r->longest_call_ns == 4300000000u);
	assert_true(metric(r, "far.suspended_pct") < 1);
	assert_true(metric(r, "far.longest_us") < 5000);
}

/* A resume on another GPU waits for the host's lock. */
static void a_resume_elsewhere_waits(void **state)
{
	static const char text[] =
		LONG "gpus = 2\n" STAY "preempt_mode = cta\n[process far]\nkind = be\ngpu = 1\n"
		     "kernel_us = 1000\n[actions]\n" SUSPEND("1500", "far") SUSPEND("2000", "stay")
			     RESUME("2100", "far");
	CLEANUP(sim_scenario_freep) struct sim_scenario *s = load(text);
	CLEANUP(sim_result_freep) struct sim_result *r = NULL;

	s->params.drain_most_ns = 0;
	r = run(s);
	assert_true(metric(r, "far.longest_us") > 4700000);
}

/* Who starts or ends while such a call is under way waits for it. */
static void a_start_waits_for_the_lock(void **state)
{
	static const char text[] =
		LONG STAY "preempt_mode = cta\n[process new]\nkind = be\n"
			  "kernel_us = 1000\nstart_s = 2.1\n[actions]\n" SUSPEND("2000", "stay");
	CLEANUP(sim_scenario_freep) struct sim_scenario *s = load(text);
	CLEANUP(sim_result_freep) struct sim_result *r = NULL;

	s->params.drain_most_ns = 0;
	r = run(s);
	assert_true(r->processes[1].ran_s < 9.95);
}

static double faulty(const char *fault, const char *more, const char *name)
{
	char text[1000];

	snprintf(text, sizeof(text), "%sfault = %s\n" BE "[actions]\n" SUSPEND("2000", "be") "%s",
		 LONG, fault, more);
	return of(text, name);
}

/* Effect and answer of a failed call are apart. */
static void effect_and_answer_are_apart(void **state)
{
	assert_true(faulty("suspend=0x3:applied", "", "be.suspended_pct") > 85);
	assert_true(faulty("suspend=0x3:refused", "", "be.suspended_pct") < 1);
	assert_true(faulty("suspend=0x3", "", "be.suspended_pct") < 1);
	assert_true(faulty("resume=0x40:refused:1", RESUME("3000", "be") RESUME("4000", "be"),
			   "be.longest_us") > 1900000);
	assert_true(faulty("resume=0x40:applied:1", RESUME("3000", "be"), "be.longest_us") <
		    1100000);
}

/* The third call in a row that the firmware does not answer marks the GPU for reset. */
static void three_calls_without_answer(void **state)
{
	static const char text[] =
		"[scenario]\nduration_s = 200\nfault = suspend=0x65:refused\n" BE
		"count = 2\n[actions]\n" SUSPEND("2000", "be") SUSPEND("60000", "be[0]");
	CLEANUP(sim_scenario_freep) struct sim_scenario *s = load(text);
	CLEANUP(sim_result_freep) struct sim_result *r = run(s);

	assert_int_equal(r->failed_calls, 3);
	assert_string_equal(end_of(r, 0), "lost");
	assert_string_equal(end_of(r, 1), "lost");
	assert_true(r->lock_ns > 134000000000u);
}

/* A program that makes no step for its own time-out ends itself; then its peer does too. */
static void programs_end_themselves(void **state)
{
	static const char text[] =
		LONG BE "count = 2\nsync = yes\ndies_after_s = 2\n"
			"[actions]\n" SUSPEND("2000", "be[0]") RESUME("5000", "be[0]");
	static const char idle[] = LONG "[process lc]\nkind = lc\narrivals = periodic\n"
					"gap_us = 3000000\nkernel_us = 100\ndies_after_s = 1\n";
	static const char spin[] = LONG BE "count = 2\nsync = spin\n"
					   "[process p]\nkind = be\nkernel_us = 10\nstart_s = 3\n";
	CLEANUP(sim_scenario_freep) struct sim_scenario *s = load(text);
	CLEANUP(sim_result_freep) struct sim_result *r = run(s);

	assert_string_equal(end_of(r, 0), "waited");
	assert_string_equal(end_of(r, 1), "waited");
	assert_true(of(idle, "lc.died") < 0.1);
	assert_true(of(spin, "be.died") < 0.1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(broken_faults_are_refused),
		cmocka_unit_test(a_drain_without_end_removes),
		cmocka_unit_test(a_block_of_three_seconds_lives),
		cmocka_unit_test(a_suspension_waits_for_the_block),
		cmocka_unit_test(a_resume_elsewhere_waits),
		cmocka_unit_test(a_start_waits_for_the_lock),
		cmocka_unit_test(effect_and_answer_are_apart),
		cmocka_unit_test(three_calls_without_answer),
		cmocka_unit_test(programs_end_themselves),
	};

	return cmocka_run_group_tests_name("scenario_harm", tests, make_file, remove_file);
}
