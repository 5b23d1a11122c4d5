// SPDX-License-Identifier: MIT
/* model.c - measures a cell on the model of the GPU, in virtual time */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "bench/model.h"

#define BRANCH 580 /* driver branch for which the model was fitted */
#define CLEANUP_SCENARIO CLEANUP(sim_scenario_freep)
#define CLEANUP_RESULT CLEANUP(sim_result_freep)
/* CPU time of a launch alone: 500 launches, 14 us apart, took 8.9 ms on the H200. */
#define LAUNCH_US 3.6

/*
 * A token is one launch of a graph. The graph's kernels are modelled as waves of blocks of one
 * kernel.
 */
static void put_tokens(int fd, const struct bench_program *p)
{
	dprintf(fd, "kernel_us = %g\nblock_us = %g\nkernels = %u\nwait_every = 1\n",
		p->kernel_us * p->kernels, p->kernel_us, p->tokens);
}

static void put_requests(int fd, const struct bench_program *p)
{
	dprintf(fd, "arrivals = %s\ngap_us = %g\nburst = %u\n", p->arrivals, p->period_us,
		p->burst);
	if (p->cv > 1)
		dprintf(fd, "cv = %g\n", p->cv);
	if (!p->tokens)
		dprintf(fd, "kernels = %u\nlaunch_gap_us = %g\n", p->kernels,
			p->gap_us > 0 ? p->gap_us + LAUNCH_US : 0);
}

/* Writes the settings of the MPS server that the LC's or the BE's programs use. */
static void put_server(int fd, const struct bench_scheme *s, bool is_lc)
{
	const char *how = is_lc ? s->run_lc : s->run_be;
	bool priority = s->mps == BENCH_MPS_PRIORITY || (how && !strcmp(how, "--share"));

	if (s->mps == BENCH_NO_MPS && !how)
		return;
	dprintf(fd, "server = mps\npriority = %d\n", priority && !is_lc);
	if (s->be_sm_percent && !is_lc)
		dprintf(fd, "sm_pct = %u\n", s->be_sm_percent);
}

/* A load's programs are the group "lc" or "be", or a group each: "lc0", "lc1". */
static bool is_lc_name(const char *name)
{
	return !strncmp(name, "lc", 2);
}

static void put_program(int fd, const char *name, const struct bench_program *p, unsigned int n,
			const struct bench_scheme *s)
{
	bool batch = p->work == BENCH_BATCH, lc = is_lc_name(name);

	dprintf(fd, "[process %s]\nclass = %s\nkind = %s\ncount = %u\n", name,
		!s->told ? "none"
		: lc     ? "lc"
			 : "be",
		batch ? "be" : "lc", n);
	put_server(fd, s, lc);
	if (p->tokens)
		put_tokens(fd, p);
	else
		dprintf(fd, "kernel_us = %g\n", p->kernel_us);
	if (p->block_us > 0)
		dprintf(fd, "block_us = %g\n", p->block_us);
	if (!batch)
		put_requests(fd, p);
}

static void name_group(const struct bench_load *l, bool is_lc, unsigned int i, char *ret,
		       size_t size)
{
	snprintf(ret, size, "%s", is_lc ? "lc" : "be");
	if (l->each)
		snprintf(ret + 2, size - 2, "%u", i);
}

static void put_programs(int fd, const struct bench_load *l, bool is_lc,
			 const struct bench_scheme *s)
{
	unsigned int n = is_lc ? l->nlc : l->nbe;
	char name[16];

	for (unsigned int i = 0; i < (l->each ? n : 1); i++) {
		name_group(l, is_lc, i, name, sizeof(name));
		put_program(fd, name, bench_program_of(l, is_lc, i), l->each ? 1 : n, s);
		if (s->slices && !is_lc)
			dprintf(fd, "timeslice_us = %u\n", bench_table_slice_us(l));
	}
}

static int make_scenario(const struct bench_run *run, const struct bench_cell *cell,
			 struct sim_scenario **ret, struct gs_error *err)
{
	CLEANUP_FD int fd = memfd_create("bench", MFD_CLOEXEC);
	double warmup_s = bench_table_warmup_s(run, cell->scheme);
	const struct bench_load *l = cell->load;
	char path[64];

	if (fd < 0)
		return gs_fail(err, -errno, "no memory for a scenario");
	dprintf(fd, "[scenario]\ntitle = %s\nduration_s = %g\nwarmup_s = %g\nseed = %u\n", l->name,
		warmup_s + run->seconds, warmup_s, cell->block + 1);
	if (!cell->scheme->be_alone)
		put_programs(fd, l, true, cell->scheme);
	if (!cell->scheme->alone)
		put_programs(fd, l, false, cell->scheme);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return sim_scenario_load(path, NULL, ret, err);
}

int bench_model_turns(const struct sim_result *res, struct gs_turns **ret)
{
	struct gs_turns *turns;
	const struct gs_costs costs = gs_costs_measured(res->scenario->params.pci_name, BRANCH);
	int r = gs_turns_new(NULL, NULL, &turns);

	if (r)
		return r;
	gs_turns_measured(turns, &costs);
	for (size_t i = 0; !r && i < res->nprocesses; i++) {
		const struct gpusched_settings *is = &res->processes[i].is;

		r = gs_turns_slice(turns, i + 1, is->timeslice_us, 0);
		if (!r)
			r = gs_turns_mode(turns, i + 1, is->preempt_mode, 0);
	}
	for (size_t i = 0; !r && i < res->nturns; i++) {
		const struct sim_turn *t = &res->turns[i];
		const struct gs_switch start = { .ns = t->start_ns, .start = true };
		const struct gs_switch end = { .ns = t->end_ns };

		r = gs_turns_feed(turns, &start, t->process + 1);
		if (!r)
			r = gs_turns_feed(turns, &end, t->process + 1);
	}
	if (r)
		gs_turns_free(turns);
	else
		*ret = turns;
	return r;
}

static int account(const struct sim_result *res, struct bench_cell *cell)
{
	struct gs_runlist_sums sums;
	struct gs_turns *turns = NULL;
	double span;
	int r = bench_model_turns(res, &turns);

	if (!r) {
		gs_turns_runlist(turns, &sums);
		span = (double)(sums.as_of_ns - sums.since_ns);
		cell->lost_pct = span > 0 ? 100 * (double)sums.lost_ns / span : NAN;
		cell->switches_per_s = span > 0 ? (double)sums.switches * 1e9 / span : NAN;
	}
	gs_turns_free(turns);
	return r;
}

static bool is_lc(const struct sim_process_result *p)
{
	return is_lc_name(p->group->name);
}

static int take_times(const uint64_t *ns, size_t n, double **inout_us, size_t *inout_n)
{
	double *grown = reallocarray(*inout_us, *inout_n + n + 1, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	*inout_us = grown;
	for (size_t i = 0; i < n; i++)
		grown[(*inout_n)++] = (double)ns[i] / NS_PER_US;
	return 0;
}

static int take_latencies(const struct sim_result *res, struct bench_cell *cell)
{
	int r = 0;

	for (size_t i = 0; !r && i < res->nprocesses; i++) {
		const struct sim_process_result *p = &res->processes[i];

		if (is_lc(p))
			r = take_times(p->latency_ns, p->nlatency, &cell->latency_us, &cell->n);
		if (is_lc(p) && !r)
			r = take_times(p->piece_ns, p->npieces, &cell->token_us, &cell->ntokens);
	}
	return r;
}

/* Takes the settings that the BE had at its end. A policy that failed was not in force. */
static void take_settings(const struct sim_result *res, struct bench_cell *cell)
{
	json_t *slices = json_array();

	for (size_t i = 0; i < res->nprocesses; i++) {
		const struct sim_process_result *p = &res->processes[i];

		if (!is_lc(p))
			json_array_append_new(slices, json_integer(p->is.timeslice_us));
	}
	cell->in_force = json_pack("{s:s?, s:o, s:I}", "policy", cell->scheme->policy,
				   "be_timeslice_us", slices, "rm_calls", (json_int_t)res->calls);
	cell->proved = !res->policy_failure[0];
	if (res->policy_failure[0])
		snprintf(cell->failed, sizeof(cell->failed), "policy %s: %.150s",
			 cell->scheme->policy, res->policy_failure);
}

int bench_model_run(const struct bench_run *run, const struct bench_cell *cell,
		    struct sim_scenario **ret_s, struct sim_result **ret, struct gs_error *err)
{
	const struct sim_run_options options = {
		.policy = cell->scheme->policy ? cell->scheme->policy : "none",
		.timeline_ms = run->seconds * 1e3,
	};
	int r = make_scenario(run, cell, ret_s, err);

	if (!r && run->params)
		r = sim_params_named(run->params, &(*ret_s)->params, err);
	return r ? r : sim_scenario_run(*ret_s, &options, ret, err);
}

/* Adds the BE's rates. If a BE is a program with requests, counts the kernels in them. */
static void take_rate(const struct sim_result *res, struct bench_cell *cell)
{
	const struct bench_load *l = cell->load;
	char name[32];
	double rate;

	for (unsigned int i = 0; i < (l->each ? l->nbe : 1); i++) {
		name_group(l, false, i, name, sizeof(name));
		strcat(name, ".rate");
		if (sim_result_metric(res, name, &rate))
			continue;
		rate *= bench_table_kernels(bench_program_of(l, false, i));
		cell->be_rate = isfinite(cell->be_rate) ? cell->be_rate + rate : rate;
	}
}

int bench_on_model(const struct bench_run *run, struct bench_cell *cell, struct gs_error *err)
{
	CLEANUP_SCENARIO struct sim_scenario *s = NULL;
	CLEANUP_RESULT struct sim_result *res = NULL;
	int r;

	cell->be_rate = cell->lost_pct = cell->switches_per_s = cell->late_p99_us = NAN;
	r = bench_model_run(run, cell, &s, &res, err);
	if (!r)
		r = take_latencies(res, cell);
	if (!r)
		r = account(res, cell);
	if (r)
		return r;
	take_settings(res, cell);
	if (!cell->scheme->alone)
		take_rate(res, cell);
	return 0;
}

int bench_model_name(const struct bench_run *run, char *ret, size_t size, struct gs_error *err)
{
	struct sim_params params;
	int r = 0;

	sim_params_default(&params);
	if (run->params)
		r = sim_params_named(run->params, &params, err);
	if (!r)
		snprintf(ret, size, "%s", params.name);
	return r;
}
