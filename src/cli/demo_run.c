// SPDX-License-Identifier: MIT
/* demo_run.c - the demo is one load of the bench under three of its schemes */
#include <math.h>

#include "basic/cleanup.h"
#include "basic/env.h"
#include "bench/bench.h"
#include "cli/cli.h"
#include "cli/demo.h"

#define PATH_WARMUP_S 0.25
#define MODEL_WARMUP_S 0.5
#define MODEL_SECONDS 30 /* costs nothing in virtual time */

static void before_end(void *user, const struct bench_cell *cell)
{
	if (cell->scheme->policy)
		demo_reason(user);
}

static int run(struct demo *d, struct bench_run *b, enum demo_case k, const char *scheme,
	       struct gs_error *err)
{
	CLEANUP(bench_cell_free)
	struct bench_cell cell = { .load = bench_load(DEMO_LOAD), .scheme = bench_scheme(scheme) };
	int r;

	demo_tell(d, cell.scheme->text);
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
	gs_sort(cell.latency_us, cell.n);
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
		cli_catch_stop();
	r = model ? bench_model_name(&b, b.gpu, sizeof(b.gpu), err) : bench_path_begin(&b, err);
	if (!r)
		r = run_all(d, &b, err);
	snprintf(d->where, sizeof(d->where), "%s", b.gpu);
	bench_path_end(&b);
	return r;
}
