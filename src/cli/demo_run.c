// SPDX-License-Identifier: MIT
/* demo_run.c - measures the demo: one load of the bench under three of its schemes */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/env.h"
#include "basic/json_sheet.h"
#include "bench/bench.h"
#include "cli/cli.h"
#include "cli/demo.h"
#include "gpusched/gpusched.h"
#include "local/ask.h"

#define PATH_WARMUP_S 0.25
#define MODEL_WARMUP_S 0.5
#define MODEL_SECONDS 30 /* virtual time costs nothing */

/* ---- why gpusched could not act ----------------------------------------------------------------- */

/* Sends a request. Takes @args. */
static json_t *ask(const char *verb, json_t *args)
{
	CLEANUP_GPUSCHED struct gpusched *g = NULL;
	CLEANUP_JSON json_t *owned = args;
	json_t *answer = NULL;

	if (gpusched_open(NULL, &g) || gs_ask(g, verb, owned, &answer))
		return NULL;
	return answer;
}

/* Finds the compute TSG of the BE. */
static const json_t *find_be(const json_t *list)
{
	json_t *row;
	size_t i;

	json_array_foreach(json_object_get(list, "tsgs"), i, row) {
		const char *kind = json_string_value(json_object_get(row, "kind"));

		if (kind && !strcmp(kind, "compute"))
			return row;
	}
	return NULL;
}

static void no_policy(struct demo *d)
{
	CLEANUP_JSON json_t *get = ask("policy_get", NULL);
	const char *why = json_string_value(gs_json_at(get, "last_exit.message"));

	snprintf(d->reason, sizeof(d->reason), "policy " DEMO_POLICY " does not run: %s",
		 why ? why : "the daemon gives no reason");
}

static void compare(struct demo *d, const json_t *be, const json_t *stats)
{
	CLEANUP_FREE char *is = gs_json_cell(gs_json_at(be, "is.timeslice_us"));
	CLEANUP_FREE char *want = gs_json_cell(gs_json_at(be, "want.timeslice_us"));
	const char *status = json_string_value(json_object_get(be, "last_error"));

	if (!gs_json_at(be, "want.timeslice_us"))
		snprintf(d->reason, sizeof(d->reason),
			 DEMO_POLICY " wanted nothing for the BE's compute TSG");
	else if (d->dry_run)
		snprintf(d->reason, sizeof(d->reason),
			 "gpuschedd runs with --dry-run: " DEMO_POLICY
			 " wanted %s us for the BE, which still has %s us; %" JSON_INTEGER_FORMAT
			 " calls were not made",
			 want, is, json_integer_value(gs_json_at(stats, "engine.dry_run")));
	else if (!is || !want || strcmp(is, want))
		snprintf(d->reason, sizeof(d->reason),
			 "the driver refused: " DEMO_POLICY
			 " wanted %s us for the BE, which still has %s us; %" JSON_INTEGER_FORMAT
			 " calls failed%s%s",
			 want, is, json_integer_value(gs_json_at(stats, "engine.calls_failed")),
			 status ? ", the last with " : "", status ? status : "");
}

/* Finds out, while the daemon still runs, why it could not act. */
static void find_reason(struct demo *d)
{
	CLEANUP_JSON json_t *stats = ask("stats", NULL);
	CLEANUP_JSON json_t *list = ask("list", json_pack("{s:s}", "target", "class:be"));
	const json_t *be = find_be(list);

	if (!stats)
		snprintf(d->reason, sizeof(d->reason), "gpuschedd did not answer any more");
	else if (!gs_json_at(stats, "policy"))
		no_policy(d);
	else if (!be)
		snprintf(d->reason, sizeof(d->reason), "gpuschedd sees no TSG of class be");
	else
		compare(d, be, stats);
}

/* ---- measuring ---------------------------------------------------------------------------------- */

/* Prints one line of progress for people. */
static void tell(const struct demo *d, const char *what)
{
	if (d->json)
		return;
	printf("measuring: %s\n", what);
	fflush(stdout);
}

static void before_end(void *user, const struct bench_cell *cell)
{
	if (cell->scheme->policy)
		find_reason(user);
}

static int run(struct demo *d, struct bench_run *b, enum demo_case k, const char *scheme,
	       struct gs_error *err)
{
	CLEANUP(bench_result_free_cell)
	struct bench_cell cell = { .load = bench_table_load(DEMO_LOAD),
				   .scheme = bench_table_scheme(scheme) };
	int r;

	tell(d, cell.scheme->text);
	r = b->mode == BENCH_SIM ? bench_on_model(b, &cell, err)
				 : bench_on_path(b, &cell, 1, 1, err);
	if (r)
		return r;
	if (cell.failed[0])
		return gs_fail(err, -EIO, "demo: %s: %s", cell.scheme->text, cell.failed);
	if (isfinite(cell.be_rate))
		d->be[k] = cell.be_rate;
	if (!cell.n)
		return 0;
	gs_sample_sort(cell.latency_us, cell.n);
	d->p50[k] = cell.latency_us[gs_quantile_at(cell.n, 0.5)];
	d->p99[k] = cell.latency_us[gs_quantile_at(cell.n, 0.99)];
	d->requests[k] = (double)cell.n;
	return 0;
}

static int run_all(struct demo *d, struct bench_run *b, struct gs_error *err)
{
	int r = run(d, b, DEMO_ALONE, "alone", err);

	if (!r)
		r = run(d, b, DEMO_ALONE, "be-alone", err);
	if (!r)
		r = run(d, b, DEMO_DEFAULT, "default", err);
	return r ? r : run(d, b, DEMO_GPUSCHED, DEMO_POLICY, err);
}

int demo_run(struct demo *d, bool model, struct gs_error *err)
{
	struct bench_run b = {
		.mode = model    ? BENCH_SIM
			: d->gpu ? BENCH_REAL
				 : BENCH_PATH,
		.warmup_s = model ? MODEL_WARMUP_S : PATH_WARMUP_S,
		.dilate = model ? 1 : gs_env()->dilate,
		.gpus = 1,
		.dry_run = d->dry_run,
		.params = d->params,
		.before_end = before_end,
		.user = d,
		.stop = &cli_stopped,
	};
	int r;

	if (model && !d->seconds)
		d->seconds = MODEL_SECONDS;
	b.seconds = d->seconds;
	d->mode = model ? "model" : "path";
	d->dilate = b.dilate;
	if (!model)
		cli_command_catch_stop();
	r = model ? bench_model_name(&b, b.gpu, sizeof(b.gpu), err) : bench_path_begin(&b, err);
	if (!r)
		r = run_all(d, &b, err);
	snprintf(d->where, sizeof(d->where), "%s", b.gpu);
	bench_path_end(&b);
	return r;
}
