// SPDX-License-Identifier: MIT
/* result.c - converts cells to lines of raw data and back, and makes figures over all blocks */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/json_sheet.h"
#include "bench/given.h"
#include "bench/result.h"

void bench_result_free_cell(struct bench_cell *cell)
{
	free(cell->latency_us);
	free(cell->token_us);
	json_decref(cell->in_force);
	json_decref(cell->where);
	*cell = (struct bench_cell){ 0 };
}

void bench_result_free(struct bench_result *r)
{
	for (size_t i = 0; i < r->n; i++)
		bench_result_free_cell(&r->cells[i]);
	free(r->cells);
	*r = (struct bench_result){ 0 };
}

int bench_result_add(struct bench_result *r, struct bench_cell *cell)
{
	struct bench_cell *grown, *same = (struct bench_cell *)bench_result_find(
					  r, cell->load, cell->scheme, cell->block);

	if (same) {
		bench_result_free_cell(same);
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
		load = bench_table_alone(load);
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

static json_t *reals(const double *v, size_t n)
{
	json_t *list = json_array();

	for (size_t i = 0; i < n; i++)
		json_array_append_new(list, real(v[i]));
	return list;
}

/* Reads a list of numbers. 0 with @ret malloc'd; -ENOMEM. */
static int read_reals(const json_t *list, double **ret, size_t *ret_n)
{
	double *v = calloc(json_array_size(list) + 1, sizeof(double));

	if (!v)
		return -ENOMEM;
	for (size_t i = 0; i < json_array_size(list); i++)
		v[i] = json_number_value(json_array_get(list, i));
	gs_sample_sort(v, json_array_size(list));
	*ret = v;
	*ret_n = json_array_size(list);
	return 0;
}

json_t *bench_result_where(const struct bench_run *run)
{
	json_t *o = json_pack("{s:s?, s:s}", "driver", run->driver[0] ? run->driver : NULL, "build",
			      bench_build);

	json_object_set_new(o, "host_gpus",
			    run->host_gpus ? json_integer(run->host_gpus) : json_null());
	return o;
}

json_t *bench_result_cell_json(const struct bench_run *run, const struct bench_cell *cell)
{
	json_t *line = json_pack(
		"{s:s, s:s, s:s, s:s, s:s, s:i, s:f, s:f, s:o, s:o, s:o, s:O?, s:b, s:s?, s:o, "
		"s:o}",
		"machine", run->machine, "gpu", run->gpu, "mode", bench_mode_names[run->mode],
		"load", cell->load->name, "scheme", cell->scheme->name, "block", (int)cell->block,
		"seconds", run->seconds, "warmup_s", bench_table_warmup_s(run, cell->scheme),
		"be_rate", real(cell->be_rate), "lost_pct", real(cell->lost_pct), "switches_per_s",
		real(cell->switches_per_s), "in_force", cell->in_force, "proved", cell->proved,
		"failed", cell->failed[0] ? cell->failed : NULL, "late_p99_us",
		real(cell->late_p99_us), "latency_us", reals(cell->latency_us, cell->n));

	json_object_set_new(line, "source", bench_given_json(cell->load));
	if (cell->ntokens)
		json_object_set_new(line, "token_us", reals(cell->token_us, cell->ntokens));
	json_object_update(line, cell->where);
	return line;
}

static const char *text(const json_t *line, const char *key)
{
	const char *s = json_string_value(json_object_get(line, key));

	return s ? s : "";
}

int bench_result_cell_parse(const struct bench_run *run, const json_t *line, struct bench_cell *ret)
{
	const char *failed = json_string_value(json_object_get(line, "failed"));
	struct bench_cell c = {
		.load = bench_table_load(text(line, "load")),
		.scheme = bench_table_scheme(text(line, "scheme")),
		.block = (unsigned int)number(line, "block"),
	};

	if (!c.load || !c.scheme || !bench_given_same(c.load, line) ||
	    strcmp(text(line, "machine"), run->machine) ||
	    strcmp(text(line, "mode"), bench_mode_names[run->mode]))
		return -ENOENT;
	if (read_reals(json_object_get(line, "latency_us"), &c.latency_us, &c.n))
		return -ENOMEM;
	if (read_reals(json_object_get(line, "token_us"), &c.token_us, &c.ntokens)) {
		bench_result_free_cell(&c);
		return -ENOMEM;
	}
	c.late_p99_us = number(line, "late_p99_us");
	c.where = json_pack("{s:O?, s:O?, s:O?}", "driver", json_object_get(line, "driver"),
			    "build", json_object_get(line, "build"), "host_gpus",
			    json_object_get(line, "host_gpus"));
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

/* The figures of one row, by block. */
struct blocks {
	struct gs_sample latency[MAX_BLOCKS], token[MAX_BLOCKS], be[MAX_BLOCKS];
	size_t n, done, requests, tokens;
	size_t fewest, fewest_tokens; /* requests, tokens in the block that has the fewest */
	double largest_us;            /* NAN: there was no request */
	const struct bench_cell *last;
	bool proved;
	bool mixed; /* blocks have different drivers, builds or hosts */
	const char *failed;
};

static void gather(const struct bench_result *r, const struct bench_load *load,
		   const struct bench_scheme *scheme, struct blocks *ret)
{
	*ret = (struct blocks){
		.proved = true, .fewest = SIZE_MAX, .fewest_tokens = SIZE_MAX, .largest_us = NAN
	};
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
		ret->tokens += c->ntokens;
		ret->fewest = c->n < ret->fewest ? c->n : ret->fewest;
		ret->fewest_tokens =
			c->ntokens < ret->fewest_tokens ? c->ntokens : ret->fewest_tokens;
		if (c->n)
			ret->largest_us = fmax(c->latency_us[c->n - 1],
					       isfinite(ret->largest_us) ? ret->largest_us : 0);
		ret->mixed |= ret->last && !json_equal(ret->last->where, c->where);
		ret->latency[i] = (struct gs_sample){ c->latency_us, c->n };
		ret->token[i] = (struct gs_sample){ c->token_us, c->ntokens };
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

/* The median over all blocks of a figure with one value per cell. */
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
	return gs_sample_median(v, n);
}

/*
 * A policy must not make LC more than 5 % slower than the default at the median and at 90 %. It
 * must leave BE at least 90 % of its work. Returns the first of these figures that leaves open
 * whether the policy keeps its limit: the limit lies in its interval, which is wider than 5 %.
 * NULL: none.
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

static const struct gs_figure unknown = { NAN, NAN, NAN };

/* True if there are enough measurements for a 99th percentile. */
static bool enough(size_t all, size_t fewest)
{
	return all >= BENCH_P99_ALL && fewest >= BENCH_P99_EACH;
}

static void put_latencies(json_t *o, const struct blocks *mine, const struct blocks *theirs)
{
	static const struct {
		const char *name, *ratio;
		double q;
	} parts[] = {
		{ "lc_p50_us", "lc_p50_of_default", 0.5 },
		{ "lc_p90_us", "lc_p90_of_default", 0.9 },
		{ "lc_p99_us", "lc_p99_of_default", 0.99 },
	};
	bool both =
		enough(mine->requests, mine->fewest) && enough(theirs->requests, theirs->fewest);
	size_t n = mine->n < theirs->n ? mine->n : theirs->n;

	for (size_t i = 0; i < GS_COUNT(parts); i++) {
		bool p99 = parts[i].q == 0.99;

		put_figure(o, parts[i].name,
			   p99 && !enough(mine->requests, mine->fewest)
				   ? unknown
				   : gs_sample_quantile(mine->latency, mine->n, parts[i].q));
		put_figure(o, parts[i].ratio,
			   p99 && !both ? unknown
					: gs_sample_quantile_ratio(mine->latency, theirs->latency,
								   n, parts[i].q));
	}
	json_object_set_new(o, "lc_max_us", real(mine->largest_us));
}

static void put_tokens(json_t *o, const struct blocks *mine)
{
	json_object_set_new(o, "tokens", json_integer((json_int_t)mine->tokens));
	put_figure(o, "lc_token_p50_us", gs_sample_quantile(mine->token, mine->n, 0.5));
	put_figure(o, "lc_token_p99_us",
		   enough(mine->tokens, mine->fewest_tokens)
			   ? gs_sample_quantile(mine->token, mine->n, 0.99)
			   : unknown);
}

/* Adds driver, build and host of all the row's blocks; "mixed" if they differ. */
static void put_where(json_t *o, const struct blocks *mine)
{
	static const char *const keys[] = { "driver", "build", "host_gpus" };

	for (size_t i = 0; i < GS_COUNT(keys); i++) {
		json_t *v = mine->last ? json_object_get(mine->last->where, keys[i]) : NULL;

		json_object_set_new(o, keys[i],
				    mine->mixed ? json_string("mixed")
				    : v         ? json_incref(v)
						: json_null());
	}
}

json_t *bench_result_row(const struct bench_run *run, const struct bench_result *r,
			 const struct bench_pick *pick)
{
	const struct bench_scheme *by_default = bench_table_scheme("default");
	json_t *o = json_pack("{s:s, s:s, s:s, s:s, s:s}", "load", pick->load->name, "scheme",
			      pick->scheme->name, "mode", bench_mode_names[run->mode], "machine",
			      run->machine, "gpu", run->gpu);
	struct blocks mine, theirs;

	json_object_set_new(o, "source", bench_given_json(pick->load));
	gather(r, pick->load, pick->scheme, &mine);
	gather(r, pick->load, by_default, &theirs);
	json_object_set_new(o, "blocks", json_integer((json_int_t)mine.done));
	json_object_set_new(o, "requests", json_integer((json_int_t)mine.requests));
	put_where(o, &mine);
	put_latencies(o, &mine, &theirs);
	put_tokens(o, &mine);
	json_object_set_new(o, "late_p99_us",
			    real(over_cells(r, pick, offsetof(struct bench_cell, late_p99_us))));
	put_figure(o, "be_rate", gs_sample_quantile(mine.be, mine.n, 0.5));
	put_figure(o, "be_share_of_default",
		   gs_sample_quantile_ratio(mine.be, theirs.be,
					    mine.n < theirs.n ? mine.n : theirs.n, 0.5));
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
