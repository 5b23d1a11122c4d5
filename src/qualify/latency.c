// SPDX-License-Identifier: MIT
/*
 * latency.c - measures a service's latencies with the bench
 *
 * The service runs alone, then beside one and beside three BE programs: each without a policy, and
 * under the policy auto.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "basic/json_sheet.h"
#include "qualify/priv.h"
#include "bench/result.h"

static double at(const struct bench_cell *c, double part)
{
	return c->n ? c->latency_us[gs_quantile_at(c->n, part)] : NAN;
}

static json_t *number(double v)
{
	return isfinite(v) ? json_real(v) : json_null();
}

/* Adds a row to the results. @few: there were too few requests for a 99th percentile. */
static void take(struct qualify *q, struct bench_cell *c, const char *load, bool few)
{
	gs_sample_sort(c->latency_us, c->n);
	json_array_append_new(
		q->r->latencies,
		json_pack("{s:s, s:s, s:i, s:o, s:o, s:o, s:s?}", "load", load, "scheme",
			  c->scheme->name, "requests", (int)c->n, "lc_p50_us", number(at(c, 0.5)),
			  "lc_p99_us", few ? json_null() : number(at(c, 0.99)), "be_rate",
			  number(c->be_rate), "failed", c->failed[0] ? c->failed : NULL));
}

static void judge(struct qualify *q, enum qualify_check_id id, const struct bench_cell *by_default,
		  const struct bench_cell *with)
{
	double a = at(by_default, 0.99), b = at(with, 0.99);

	if (by_default->failed[0] || with->failed[0])
		snprintf(q->r->checks[id].why, sizeof(q->r->checks[id].why), "%.190s",
			 with->failed[0] ? with->failed : by_default->failed);
	else if (b < a)
		qualify_yes(q, id, "p99 %.0f us, by default %.0f; BE %.0f %%", b, a,
			    100 * with->be_rate / by_default->be_rate);
	else
		qualify_no(q, id, "p99 %.0f us, by default %.0f", b, a);
}

static int beside(struct qualify *q, const char *load, enum qualify_check_id id,
		  struct gs_error *err)
{
	struct bench_cell cells[2] = {
		{ .load = bench_table_load(load), .scheme = bench_table_scheme("default") },
		{ .load = bench_table_load(load), .scheme = bench_table_scheme("auto") },
	};
	int r = bench_on_path(&q->run, cells, 2, 1, err);

	for (int i = 0; i < 2 && !r; i++)
		take(q, &cells[i], load, cells[i].n < BENCH_P99_EACH);
	if (!r)
		judge(q, id, &cells[0], &cells[1]);
	for (int i = 0; i < 2; i++)
		bench_result_free_cell(&cells[i]);
	return r;
}

static int alone(struct qualify *q, struct gs_error *err)
{
	struct bench_cell c = { .load = bench_table_load("a-1be"),
				.scheme = bench_table_scheme("alone") };
	int r = bench_on_path(&q->run, &c, 1, 1, err);

	if (!r) {
		take(q, &c, "a-1be", c.n < BENCH_P99_EACH);
		if (c.n >= BENCH_P99_EACH) {
			qualify_cost(q, QUALIFY_ALONE_P50, at(&c, 0.5));
			qualify_cost(q, QUALIFY_ALONE_P99, at(&c, 0.99));
		}
	}
	bench_result_free_cell(&c);
	return r;
}

int qualify_latency(struct qualify *q, struct gs_error *err)
{
	int r = alone(q, err);

	if (!r)
		r = beside(q, "a-1be", QUALIFY_TAIL, err);
	if (!r)
		r = beside(q, "a-3be", QUALIFY_TAIL_3, err);
	return r;
}
