// SPDX-License-Identifier: MIT
/*
 * policycost.c - measure how long a policy's decisions take, callback by callback
 *
 *   policycost [--json FILE] [--tsgs N] [--cycles N] [POLICY...]
 *
 * Measures on two hosts. stock: each call is one run of the linked BPF object on the maps of an
 * instance's table; the time is the kernel's own count (BPF_ENABLE_STATS). native: the policy runs
 * as ordinary C; the time is wall time and includes the host's guard against endless callbacks.
 *
 * In each cycle, N TSGs of mixed classes are made, are scheduled, submit work, go through a round
 * of the tick, and end. The table shows the best cycle, since only an undisturbed cycle shows the
 * policy's own cost; FILE also has the median and all samples. The policy none decides nothing, so
 * its row is the host's own cost. Bold marks callbacks that the policy has. Needs root and the taps
 * of a simulator's instance (bench/local).
 */
#include <bpf/bpf.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/parse.h"
#include "policy/host.h"
#include "policy/priv.h"

#define MAX_TSGS 2048
#define MAX_CYCLES 2000

static const char *const all_policies[] = { "none", "lcbe", "rr",       "prio",
					    "fair", "edf",  "adaptive", "admit" };

enum { INIT, SCHEDULE, TIMESLICE, WORK, TICK, DESTROY, CALLBACKS };
static const char *const callbacks[] = { "task_init",   "schedule", "timeslice_set",
					 "work_submit", "tick",     "task_destroy" };

static size_t tsgs = 64, cycles = 200;
static struct gpusched_task tasks[MAX_TSGS], *live[MAX_TSGS];
static double samples[CALLBACKS][MAX_CYCLES]; /* ns per call */

/* Compute TSGs on one GPU: a quarter lc, half be, the rest of no class. */
static void fill(size_t i, uint64_t id)
{
	static const uint32_t classes[] = { GPUSCHED_CLASS_LC, GPUSCHED_CLASS_BE,
					    GPUSCHED_CLASS_NONE, GPUSCHED_CLASS_BE };

	tasks[i] = (struct gpusched_task){
		.id = id,
		.kind = GPUSCHED_KIND_COMPUTE,
		.engine = 1,
		.pid = (uint32_t)getpid(),
		.cgroup_id = 1 + i % 8,
		.class_id = classes[i % 4],
		.weight = 100,
		.deadline_us = 20000,
		.created_ns = gs_now_ns(),
		.known = GPUSCHED_KNOWN_LAUNCHES | GPUSCHED_KNOWN_GPU_TIME |
			 GPUSCHED_KNOWN_DEADLINE | GPUSCHED_KNOWN_RATE,
		.launches = 1,
		.last_launch_ns = gs_now_ns(),
	};
	live[i] = &tasks[i];
}

static int by_value(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static json_t *row(const char *policy, const char *host, const char *has)
{
	json_t *o = json_pack("{s:s, s:s, s:i, s:i}", "policy", policy, "host", host, "tsgs",
			      (int)tsgs, "cycles", (int)cycles);

	for (int c = 0; c < CALLBACKS; c++) {
		json_t *all = json_array();

		for (size_t i = 0; i < cycles; i++)
			json_array_append_new(all, json_integer((json_int_t)(samples[c][i] + 0.5)));
		qsort(samples[c], cycles, sizeof(double), by_value);
		json_object_set_new(o, callbacks[c],
				    json_pack("{s:b, s:f, s:f, s:f, s:o}", "own",
					      strstr(has, callbacks[c]) != NULL, "median_ns",
					      samples[c][cycles / 2], "min_ns", samples[c][0],
					      "p90_ns", samples[c][cycles * 9 / 10], "samples_ns",
					      all));
	}
	return o;
}

/* ---- stock -------------------------------------------------------------------------------- */

static int time_in(int prog, uint64_t *ret)
{
	struct bpf_prog_info info = { 0 };
	uint32_t len = sizeof(info);

	if (bpf_obj_get_info_by_fd(prog, &info, &len) < 0)
		return -errno;
	*ret = info.run_time_ns;
	return 0;
}

static int put_all(struct gs_table *o, struct gpusched_key *keys)
{
	static const struct gpusched_channels none;

	for (size_t i = 0; i < tsgs; i++) {
		struct gpusched_tsg rec = {
			.key = { .file = 0xbe7c4, .client = 1, .handle = (uint32_t)i + 1 }
		};
		struct gpusched_poke poke = { .what = GPUSCHED_POKE_CLASS };
		int r;

		fill(i, 0);
		rec.task = tasks[i];
		r = gs_table_insert(o, &rec, &none);
		poke.key = keys[i] = rec.key;
		poke.id = rec.task.id;
		poke.rec.task = tasks[i]; /* replaces this process's class, which the insert set */
		if (r == 0)
			r = gs_table_poke(o, &poke);
		if (r < 0)
			return r;
	}
	return 0;
}

static int run_op(const struct gs_loaded *l, const struct gpusched_key *keys, int c, uint64_t seq,
		  uint32_t tick_us)
{
	static const uint32_t ops[] = { GPUSCHED_RUN_TASK_INIT,     GPUSCHED_RUN_SCHEDULE,
					GPUSCHED_RUN_TIMESLICE_SET, GPUSCHED_RUN_WORK_SUBMIT,
					GPUSCHED_RUN_TICK,          GPUSCHED_RUN_TASK_DESTROY };
	static const uint64_t args[] = { 0, 0, GPUSCHED_CUDA_TIMESLICE_US, 1, 0, 0 };
	int r = 0;

	for (size_t i = 0; i < (c == TICK ? 1 : tsgs) && r == 0; i++) {
		struct gpusched_run run = { .op = ops[c], .key = keys[i], .arg = args[c] };

		if (c == TICK)
			run.arg = seq << 32 | tick_us;
		r = gs_loaded_ask(l, &run);
	}
	return r;
}

static int cycle(struct gs_table *o, const struct gs_loaded *l, uint32_t tick_us, size_t n)
{
	static struct gpusched_key keys[MAX_TSGS];
	uint64_t before = 0, after = 0;
	int r = put_all(o, keys);

	/* The first round walks the table and makes the list by which later rounds go. */
	for (int i = 0; i < 3 && r == 0; i++)
		r = run_op(l, keys, TICK, 4 * n + (uint64_t)i + 1, tick_us);
	for (int c = 0; c < CALLBACKS && r == 0; c++) {
		r = time_in(l->run_fd, &before);
		if (r == 0)
			r = run_op(l, keys, c, 4 * n + 4, tick_us);
		if (r == 0)
			r = time_in(l->run_fd, &after);
		if (r == 0)
			samples[c][n] = (double)(after - before) / (double)tsgs;
	}
	for (size_t i = 0; i < tsgs && r == 0; i++)
		r = gs_table_remove(o, &keys[i]);
	return r;
}

static int on_stock(struct gs_table *o, const char *policy, json_t **ret, struct gs_error *err)
{
	struct gs_policy_exit x = { 0 };
	struct gs_policy *p;
	int r = gs_policy_prepare(o, false, policy, NULL, 0, &p, &x, err);

	free(x.dump);
	if (r < 0)
		return r;
	for (size_t n = 0; n < cycles && r == 0; n++)
		r = cycle(o, &p->loaded, p->info.tick_us, n);
	if (r < 0)
		gs_fail(err, r, "%s: %s", policy, strerror(-r));
	else
		*ret = row(policy, "stock", p->info.callbacks);
	gs_policy_discard(p);
	return r;
}

/* ---- native ------------------------------------------------------------------------------- */

static uint64_t view_now(void *user)
{
	return gs_now_ns();
}

static struct gpusched_task *const *view_tasks(void *user, size_t *ret_n)
{
	*ret_n = tsgs;
	return live;
}

static int native_op(struct gs_policy *p, int c)
{
	int r = 0;

	if (c == TICK)
		return gs_virtual_round(p);
	for (size_t i = 0; i < tsgs && r >= 0; i++) {
		if (c == INIT)
			r = gs_virtual_ask(p, GPUSCHED_RUN_TASK_INIT, live[i], 0);
		else if (c == SCHEDULE)
			r = gs_virtual_ask(p, GPUSCHED_RUN_SCHEDULE, live[i], 0);
		else if (c == TIMESLICE)
			r = gs_virtual_ask(p, GPUSCHED_RUN_TIMESLICE_SET, live[i],
					   GPUSCHED_CUDA_TIMESLICE_US);
		else if (c == WORK)
			r = gs_virtual_ask(p, GPUSCHED_RUN_WORK_SUBMIT, live[i],
					   GS_WORK_ARG(1, GPUSCHED_WORK_KERNEL));
		else
			r = gs_virtual_ask(p, GPUSCHED_RUN_TASK_DESTROY, live[i], 0);
	}
	return r < 0 ? r : 0;
}

static int on_native(const char *policy, const char *has, json_t **ret, struct gs_error *err)
{
	const struct gs_world w = { .now_ns = view_now, .tasks = view_tasks, .seed = 1 };
	struct gs_policy_exit x = { 0 };
	struct gs_policy *p;
	int r = gs_policy_open(&gs_host_native, &w, policy, NULL, 0, &p, &x, err);

	if (r < 0)
		return r;
	for (size_t n = 0; n < cycles && r == 0; n++) {
		for (size_t i = 0; i < tsgs; i++)
			fill(i, n * tsgs + i + 1);
		for (int c = 0; c < CALLBACKS && r == 0; c++) {
			uint64_t began = gs_now_ns();

			r = native_op(p, c);
			samples[c][n] = (double)(gs_now_ns() - began) / (double)tsgs;
		}
	}
	if (r < 0)
		gs_fail(err, r, "%s: %s", policy, p->failure);
	else
		*ret = row(policy, "native", has);
	gs_policy_stop(p, GS_POLICY_EXIT_STOPPED);
	return r;
}

/* ---- all of it ---------------------------------------------------------------------------- */

static void print_table(const json_t *rows)
{
	const json_t *o;
	size_t i;

	printf("| policy | host |");
	for (int c = 0; c < CALLBACKS; c++)
		printf(" %s%s |", callbacks[c], c == TICK ? ", a TSG" : "");
	printf("\n|---|---|---|---|---|---|---|---|\n");
	json_array_foreach(rows, i, o) {
		printf("| %s | %s |", json_string_value(json_object_get(o, "policy")),
		       json_string_value(json_object_get(o, "host")));
		for (int c = 0; c < CALLBACKS; c++) {
			const json_t *f = json_object_get(o, callbacks[c]);
			double ns = json_real_value(json_object_get(f, "min_ns"));

			if (json_is_true(json_object_get(f, "own")))
				printf(" **%.0f** |", ns);
			else
				printf(" %.0f |", ns);
		}
		printf("\n");
	}
}

static int measure(struct gs_table *o, const char *policy, json_t *rows, struct gs_error *err)
{
	CLEANUP(gs_policy_info_free) struct gs_policy_info info = { 0 };
	json_t *a = NULL, *b = NULL;
	int r = gs_policy_info(policy, &info, err);

	if (r == 0)
		r = on_stock(o, policy, &a, err);
	if (r == 0)
		r = on_native(policy, info.callbacks, &b, err);
	if (a)
		json_array_append_new(rows, a);
	if (b)
		json_array_append_new(rows, b);
	return r;
}

static int count_arg(const char *text, uint64_t max, size_t *ret)
{
	struct gs_error err = { 0 };
	uint64_t v;

	if (!text || gs_parse_u64(text, 1, max, &v, &err) < 0) {
		fprintf(stderr, "policycost: a number from 1 to %llu\n", (unsigned long long)max);
		return -EINVAL;
	}
	*ret = (size_t)v;
	return 0;
}

int main(int argc, char **argv)
{
	json_t *rows = json_array();
	struct gs_error err = { 0 };
	struct gs_table *o = NULL;
	const char *json = NULL;
	int at = 1, r = 0, stats;

	for (; at < argc && argv[at][0] == '-' && r == 0; at++) {
		if (strcmp(argv[at], "--json") == 0)
			json = argv[++at];
		else if (strcmp(argv[at], "--tsgs") == 0)
			r = count_arg(argv[++at], MAX_TSGS, &tsgs);
		else if (strcmp(argv[at], "--cycles") == 0)
			r = count_arg(argv[++at], MAX_CYCLES, &cycles);
		else
			r = -EINVAL;
	}
	if (r < 0)
		return 2;
	stats = bpf_enable_stats(BPF_STATS_RUN_TIME);
	if (stats < 0)
		r = gs_fail(&err, -errno, "the kernel's statistics of BPF programs: %s",
			    strerror(errno));
	if (r == 0)
		r = gs_table_open(&o, &err);
	for (size_t i = 0; at == argc && i < GS_COUNT(all_policies) && r == 0; i++)
		r = measure(o, all_policies[i], rows, &err);
	for (; at < argc && r == 0; at++)
		r = measure(o, argv[at], rows, &err);
	if (r == 0 && json && json_dump_file(rows, json, JSON_REAL_PRECISION(6)) < 0)
		r = gs_fail(&err, -EIO, "%s cannot be written", json);
	if (r < 0)
		fprintf(stderr, "policycost: %s\n", err.text);
	else
		print_table(rows);
	json_decref(rows);
	if (o)
		gs_table_close(o);
	if (stats >= 0)
		close(stats);
	return r < 0;
}
