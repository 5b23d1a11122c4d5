// SPDX-License-Identifier: MIT
/* test_program_kind.c - check kinds of programs, on the bench's loads in the model */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "basic/cleanup.h"
#include "bench/model.h"
#include "figures/program_kind.h"
#include "rm/costs.h"

#define SECONDS 10

/* Returns the figures of a process that `status` would get from the log alone. */
static struct gs_program_seen seen_of(const struct sim_result *res, struct gs_turns *turns,
				      size_t process)
{
	struct gs_program_seen s = { .known = true,
				     .span_s = SECONDS,
				     .launches = NAN,
				     .turn_cost_s = (double)gs_costs_h200.idle_turn_ns / 1e9 };
	struct gs_turn_sums t;

	if (gs_turns_of(turns, process + 1, &t))
		return s;
	s.held_s = (double)t.held_ns / 1e9;
	s.turns = (double)t.turns;
	s.slice_ended = (double)t.ended[GS_TURN_SLICE];
	s.drained = (double)t.ended[GS_TURN_DRAINED];
	s.returns = (double)t.returns;
	for (size_t i = 0; i < res->nprocesses; i++)
		if (i != process && res->processes[i].is.timeslice_us > s.beside_us)
			s.beside_us = res->processes[i].is.timeslice_us;
	return s;
}

/*
 * Returns how many programs of @load get a wrong kind. Without counted launches, the kind "unclear"
 * is not wrong.
 */
static unsigned int wrong(const struct bench_load *load, const char *scheme_name, bool launches)
{
	const struct bench_run run = { .mode = BENCH_SIM, .seconds = SECONDS, .warmup_s = 1 };
	const struct bench_cell cell = { .load = load, .scheme = bench_table_scheme(scheme_name) };
	CLEANUP(sim_scenario_freep) struct sim_scenario *s = NULL;
	CLEANUP(sim_result_freep) struct sim_result *res = NULL;
	struct gs_turns *turns = NULL;
	struct gs_error err = { 0 };
	unsigned int n = 0;

	assert_int_equal(bench_model_run(&run, &cell, &s, &res, &err), 0);
	assert_int_equal(bench_model_turns(res, &turns), 0);
	for (size_t i = 0; i < res->nprocesses; i++) {
		const struct sim_process_result *p = &res->processes[i];
		struct gs_program_seen seen = seen_of(res, turns, i);
		enum gs_program_kind kind, want = GS_PROGRAM_BATCH;

		if (launches)
			seen.launches = (double)p->launches;
		kind = gs_program_kind(&seen);

		if (p->group == &s->groups[0])
			want = strcmp(load->name, "launch-1be") ? GS_PROGRAM_WHOLE
								: GS_PROGRAM_LAUNCH_BOUND;
		if (kind == want || (!launches && kind == GS_PROGRAM_UNCLEAR))
			continue;
		/*
		 * A known weakness (see the man page): by turns alone, a token's graph looks like a
		 * short kernel.
		 */
		if (!launches && kind == GS_PROGRAM_LAUNCH_BOUND && !strncmp(load->name, "llm", 3))
			continue;
		print_message("%s %s %s[%u]: %s: turns %.0f cut %.0f drained %.0f returns %.0f "
			      "held %.2f\n",
			      load->name, scheme_name, p->group->name, p->index,
			      gs_program_kind_name(kind), seen.turns, seen.slice_ended,
			      seen.drained, seen.returns, seen.held_s);
		n++;
	}
	gs_turns_free(turns);
	return n;
}

static void all_loads(const char *scheme_name, bool launches)
{
	unsigned int n = 0, loads = 0;

	for (size_t i = 0; i < bench_table_nloads(); i++) {
		char why[160];

		/*
		 * Held-out loads are left out, so that nobody tunes for them. So are overloaded
		 * services: without pauses between requests, they look like launch-bound programs.
		 */
		if (bench_loads[i].held_out || bench_loads[i].asked ||
		    bench_table_load_is(&bench_loads[i], "part", 4) ||
		    bench_table_absent(&bench_loads[i], bench_table_scheme("default"), BENCH_SIM,
				       why, sizeof(why)))
			continue;
		n += wrong(&bench_loads[i], scheme_name, launches);
		loads++;
	}
	assert_true(loads >= 13);
	assert_int_equal(n, 0);
}

static void test_default(void **state)
{
	all_loads("default", true);
	all_loads("default", false);
}

static void test_lcbe(void **state)
{
	all_loads("lcbe", true);
	all_loads("lcbe", false);
}

static void test_rr(void **state)
{
	all_loads("rr", true);
	all_loads("rr", false);
}

static void test_auto(void **state)
{
	all_loads("auto", true);
	all_loads("auto", false);
}

static void test_signs(void **state)
{
	struct gs_program_seen s = { .known = true,
				     .span_s = 10,
				     .held_s = 1,
				     .turns = 100,
				     .drained = 100,
				     .launches = NAN };

	assert_int_equal(gs_program_kind(&s), GS_PROGRAM_WHOLE);
	s.returns = 80; /* launch-bound, or requests in bursts */
	assert_int_equal(gs_program_kind(&s), GS_PROGRAM_UNCLEAR);
	s.returns = 30; /* random requests, or launch-bound beside long slices */
	s.beside_us = 2048;
	assert_int_equal(gs_program_kind(&s), GS_PROGRAM_UNCLEAR);
	s.beside_us = 1;
	assert_int_equal(gs_program_kind(&s), GS_PROGRAM_WHOLE);
	s.launches = 10000; /* 0.1 ms each */
	assert_int_equal(gs_program_kind(&s), GS_PROGRAM_WHOLE);
	s.launches = 100000;
	assert_int_equal(gs_program_kind(&s), GS_PROGRAM_LAUNCH_BOUND);
	s.turn_cost_s = NAN; /* the work in its turns is unknown, so its returns decide */
	assert_int_equal(gs_program_kind(&s), GS_PROGRAM_WHOLE);
	s.known = false; /* records were lost, or there is no log */
	assert_int_equal(gs_program_kind(&s), GS_PROGRAM_UNSEEN);
	s = (struct gs_program_seen){ .known = true, .span_s = 10 };
	assert_int_equal(gs_program_kind(&s), GS_PROGRAM_IDLE);
	s.held_s = 10; /* loaded and alone: it is unknown whether it works */
	assert_int_equal(gs_program_kind(&s), GS_PROGRAM_UNSEEN);
	s.server = true;
	assert_int_equal(gs_program_kind(&s), GS_PROGRAM_SERVER);
	s = (struct gs_program_seen){ .known = true,
				      .span_s = 10,
				      .held_s = 2,
				      .turns = 100,
				      .slice_ended = 50,
				      .drained = 50 };
	/* more cut turns than fit into the time held: the figures contradict each other */
	assert_int_equal(gs_program_kind(&s), GS_PROGRAM_UNSEEN);
	s.held_s = 8; /* a batch program whose queue is empty now and then */
	assert_int_equal(gs_program_kind(&s), GS_PROGRAM_BATCH);
}

static void test_turn_cost(void **state)
{
	assert_true(gs_program_kind_turn_cost(
			    &(struct gs_costs){ .idle_turn_ns = 4000, .save_ns = 90000 }) == 4e-6);
	assert_true(gs_program_kind_turn_cost(&(struct gs_costs){ .save_ns = 90000 }) == 60e-6);
	assert_true(isnan(gs_program_kind_turn_cost(&(struct gs_costs){ 0 })));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_default), cmocka_unit_test(test_lcbe),
		cmocka_unit_test(test_rr),      cmocka_unit_test(test_auto),
		cmocka_unit_test(test_signs),   cmocka_unit_test(test_turn_cost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
