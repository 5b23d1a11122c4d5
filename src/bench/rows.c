// SPDX-License-Identifier: MIT
/* rows.c - the raw data, a line per cell, and the figures over all blocks */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/sheet.h"
#include "bench/bench.h"

void bench_cell_free(struct bench_cell *cell)
{
	free(cell->latency_us);
	json_decref(cell->in_force);
	*cell = (struct bench_cell){ 0 };
}

void bench_result_free(struct bench_result *r)
{
	for (size_t i = 0; i < r->n; i++)
		bench_cell_free(&r->cells[i]);
	free(r->cells);
	*r = (struct bench_result){ 0 };
}

int bench_result_add(struct bench_result *r, struct bench_cell *cell)
{
	struct bench_cell *grown, *same = (struct bench_cell *)bench_result_find(
					  r, cell->load, cell->scheme, cell->block);

	if (same) {
		bench_cell_free(same);
		*same = *cell;
		*cell = (struct bench_cell){ 0 };
		return 0;
	}
	grown = reallocarray(r->cells, r->n + 1, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	r->cells = grown;
	grown[r->n++] = *cell;
	*cell = (struct bench_cell){ 0 };
	return 0;
}

const struct bench_cell *bench_result_find(const struct bench_result *r,
					   const struct bench_load *load,
					   const struct bench_scheme *scheme, unsigned int block)
{
	if (scheme->alone)
		load = bench_alone_of(load);
	for (size_t i = 0; i < r->n; i++)
		if (r->cells[i].load == load && r->cells[i].scheme == scheme &&
		    r->cells[i].block == block)
			return &r->cells[i];
	return NULL;
}

/* ---- raw data -------------------------------------------------------------------------------- */

static json_t *real(double v)
{
	return isfinite(v) ? json_real(round(v * 1000) / 1000) : json_null();
}

static double number(const json_t *o, const char *key)
{
	const json_t *v = json_object_get(o, key);

	return json_is_number(v) ? json_number_value(v) : NAN;
}

json_t *bench_cell_json(const struct bench_run *run, const struct bench_cell *cell)
{
	json_t *latency = json_array();

	for (size_t i = 0; i < cell->n; i++)
		json_array_append_new(latency, real(cell->latency_us[i]));
	return json_pack(
		"{s:s, s:s, s:s, s:s, s:s, s:i, s:f, s:f, s:o, s:o, s:o, s:O?, s:b, s:s?, s:o}",
		"machine", run->machine, "gpu", run->gpu, "mode", bench_mode_names[run->mode],
		"load", cell->load->name, "scheme", cell->scheme->name, "block", (int)cell->block,
		"seconds", run->seconds, "warmup_s", bench_warmup_s(run, cell->scheme), "be_rate",
		real(cell->be_rate), "lost_pct", real(cell->lost_pct), "switches_per_s",
		real(cell->switches_per_s), "in_force", cell->in_force, "proved", cell->proved,
		"failed", cell->failed[0] ? cell->failed : NULL, "latency_us", latency);
}

static const char *text(const json_t *line, const char *key)
{
	const char *s = json_string_value(json_object_get(line, key));

	return s ? s : "";
}

int bench_cell_parse(const struct bench_run *run, const json_t *line, struct bench_cell *ret)
{
	const json_t *latency = json_object_get(line, "latency_us");
	const char *failed = json_string_value(json_object_get(line, "failed"));
	struct bench_cell c = {
		.load = bench_load(text(line, "load")),
		.scheme = bench_scheme(text(line, "scheme")),
		.block = (unsigned int)number(line, "block"),
	};

	if (!c.load || !c.scheme || strcmp(text(line, "machine"), run->machine) ||
	    strcmp(text(line, "mode"), bench_mode_names[run->mode]))
		return -ENOENT;
	c.latency_us = calloc(json_array_size(latency) + 1, sizeof(double));
	if (!c.latency_us)
		return -ENOMEM;
	for (size_t i = 0; i < json_array_size(latency); i++)
		c.latency_us[c.n++] = json_number_value(json_array_get(latency, i));
	gs_sort(c.latency_us, c.n);
	c.be_rate = number(line, "be_rate");
	c.lost_pct = number(line, "lost_pct");
	c.switches_per_s = number(line, "switches_per_s");
	c.in_force = json_incref(json_object_get(line, "in_force"));
	c.proved = json_is_true(json_object_get(line, "proved"));
	snprintf(c.failed, sizeof(c.failed), "%s", failed ? failed : "");
	*ret = c;
	return 0;
}

/* ---- figures --------------------------------------------------------------------------------- */

#define MAX_BLOCKS 64

/* What was measured of one row, by block. */
struct blocks {
	struct gs_sample latency[MAX_BLOCKS], be[MAX_BLOCKS];
	size_t n, done, requests;
	const struct bench_cell *last;
	bool proved;
	const char *failed;
};

static void gather(const struct bench_result *r, const struct bench_load *load,
		   const struct bench_scheme *scheme, struct blocks *ret)
{
	*ret = (struct blocks){ .proved = true };
	for (unsigned int i = 0; i < MAX_BLOCKS; i++) {
		const struct bench_cell *c = bench_result_find(r, load, scheme, i);

		if (!c)
			continue;
		ret->n = i + 1;
		if (c->failed[0]) {
			ret->failed = c->failed;
			continue;
		}
		ret->done++;
		ret->requests += c->n;
		ret->latency[i] = (struct gs_sample){ c->latency_us, c->n };
		if (isfinite(c->be_rate))
			ret->be[i] = (struct gs_sample){ &c->be_rate, 1 };
		ret->proved &= c->proved;
		ret->last = c;
	}
}

static void put_figure(json_t *o, const char *name, struct gs_figure f)
{
	char interval[64];

	snprintf(interval, sizeof(interval), "%s_interval", name);
	json_object_set_new(o, name, real(f.value));
	json_object_set_new(o, interval,
			    isfinite(f.low) ? json_pack("[o,o]", real(f.low), real(f.high))
					    : json_null());
}

/* Median over blocks of a figure that a cell has one of. */
static double over_cells(const struct bench_result *r, const struct bench_pick *p, size_t offset)
{
	double v[MAX_BLOCKS];
	size_t n = 0;

	for (unsigned int i = 0; i < MAX_BLOCKS; i++) {
		const struct bench_cell *c = bench_result_find(r, p->load, p->scheme, i);

		if (c && !c->failed[0]) {
			memcpy(&v[n], (const char *)c + offset, sizeof(v[n]));
			n += isfinite(v[n]);
		}
	}
	return gs_median(v, n);
}

/*
 * No policy may make LC more than 5 % slower than the default does at the median and at 90 %, nor
 * leave BE less than 90 % of their work. The first of these figures whose interval is wider than 5 %
 * and leaves open whether it does; NULL: none.
 */
static const char *left_open(const json_t *row)
{
	static const struct {
		const char *name;
		double limit;
	} rules[] = { { "lc_p50_of_default", 1.05 },
		      { "lc_p90_of_default", 1.05 },
		      { "be_share_of_default", 0.9 } };
	char name[64];

	for (size_t i = 0; i < GS_COUNT(rules); i++) {
		const json_t *in;
		double low, high;

		snprintf(name, sizeof(name), "%s_interval", rules[i].name);
		in = json_object_get(row, name);
		low = json_number_value(json_array_get(in, 0));
		high = json_number_value(json_array_get(in, 1));
		if (json_is_array(in) && high - low > 0.05 && low < rules[i].limit &&
		    high > rules[i].limit)
			return rules[i].name;
	}
	return NULL;
}

json_t *bench_row(const struct bench_run *run, const struct bench_result *r,
		  const struct bench_pick *pick)
{
	static const struct {
		const char *name, *ratio;
		double q;
	} parts[] = {
		{ "lc_p50_us", "lc_p50_of_default", 0.5 },
		{ "lc_p90_us", "lc_p90_of_default", 0.9 },
		{ "lc_p99_us", "lc_p99_of_default", 0.99 },
	};
	const struct bench_scheme *by_default = bench_scheme("default");
	json_t *o = json_pack("{s:s, s:s, s:s, s:s, s:s}", "load", pick->load->name, "scheme",
			      pick->scheme->name, "mode", bench_mode_names[run->mode], "machine",
			      run->machine, "gpu", run->gpu);
	struct blocks mine, theirs;

	gather(r, pick->load, pick->scheme, &mine);
	gather(r, pick->load, by_default, &theirs);
	json_object_set_new(o, "blocks", json_integer((json_int_t)mine.done));
	json_object_set_new(o, "requests", json_integer((json_int_t)mine.requests));
	for (size_t i = 0; i < GS_COUNT(parts); i++) {
		put_figure(o, parts[i].name, gs_quantile_of(mine.latency, mine.n, parts[i].q));
		put_figure(o, parts[i].ratio,
			   gs_quantile_ratio(mine.latency, theirs.latency,
					     mine.n < theirs.n ? mine.n : theirs.n, parts[i].q));
	}
	put_figure(o, "be_rate", gs_quantile_of(mine.be, mine.n, 0.5));
	put_figure(
		o, "be_share_of_default",
		gs_quantile_ratio(mine.be, theirs.be, mine.n < theirs.n ? mine.n : theirs.n, 0.5));
	json_object_set_new(o, "lost_pct",
			    real(over_cells(r, pick, offsetof(struct bench_cell, lost_pct))));
	json_object_set_new(o, "switches_per_s",
			    real(over_cells(r, pick, offsetof(struct bench_cell, switches_per_s))));
	json_object_set_new(o, "open", json_pack("s?", pick->scheme->policy ? left_open(o) : NULL));
	json_object_set(o, "in_force", mine.last ? mine.last->in_force : json_null());
	json_object_set_new(o, "proved", mine.done ? json_boolean(mine.proved) : json_null());
	json_object_set_new(o, "absent",
			    pick->absent[0] && !mine.done ? json_string(pick->absent)
							  : json_null());
	json_object_set_new(o, "failed", mine.failed ? json_string(mine.failed) : json_null());
	return o;
}
