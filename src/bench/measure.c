// SPDX-License-Identifier: MIT
/* measure.c - decides what to measure, in which order, until when; keeps the raw data */
#include "bench/measure.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/json_sheet.h"

#define MOST_BLOCKS 10 /* no more, even if a comparison is undecided by then */

void bench_measure_free(struct bench_measure *b)
{
	bench_path_end(&b->run);
	bench_result_free(&b->result);
	free(b->picks);
	if (b->raw)
		fclose(b->raw);
}

/* ---- raw data -------------------------------------------------------------------------------- */

/*
 * Takes the machine from a line of results. A run that only shows results has not looked at a
 * machine.
 */
static void know_origin(struct bench_measure *b, const json_t *line)
{
	const char *mode = json_string_value(json_object_get(line, "mode"));
	const char *machine = json_string_value(json_object_get(line, "machine"));
	const char *gpu = json_string_value(json_object_get(line, "gpu"));

	if (!mode || strcmp(mode, bench_mode_names[b->run.mode]))
		return;
	snprintf(b->run.machine, sizeof(b->run.machine), "%s", machine ? machine : "");
	snprintf(b->run.gpu, sizeof(b->run.gpu), "%s", gpu ? gpu : "");
}

static int read_raw(struct bench_measure *b, const char *path, struct gs_error *err)
{
	CLEANUP_FILE FILE *f = fopen(path, "re");
	CLEANUP_FREE char *line = NULL;
	size_t size = 0;
	int r = 0;

	while (f && !r && getline(&line, &size, f) > 0) {
		CLEANUP_JSON json_t *o = json_loads(line, 0, NULL);
		struct bench_cell cell;

		if (!b->run.machine[0])
			know_origin(b, o);
		/* skip a line that was cut off, as the last one may be, or is of another machine */
		if (!o || bench_result_cell_parse(&b->run, o, &cell) < 0)
			continue;
		r = bench_result_add(&b->result, &cell);
	}
	return r ? gs_fail(err, r, "out of memory") : 0;
}

int bench_measure_open_raw(struct bench_measure *b, struct gs_error *err)
{
	char path[4096];

	if (!b->dir)
		return 0;
	if (mkdir(b->dir, 0755) && errno != EEXIST)
		return gs_fail(err, -errno, "%s: %s", b->dir, strerror(errno));
	snprintf(path, sizeof(path), "%s/raw.jsonl", b->dir);
	if (!b->resume && access(path, F_OK) == 0)
		return gs_fail(err, -EEXIST, "%s is there: --resume goes on with it", path);
	if (b->resume && read_raw(b, path, err))
		return err->code;
	b->raw = fopen(path, "a+e");
	if (b->raw && !fseek(b->raw, -1, SEEK_END) && getc(b->raw) != '\n' &&
	    !fseek(b->raw, 0, SEEK_END))
		fputc('\n', b->raw); /* end a line that was cut off */
	return b->raw ? 0 : gs_fail(err, -errno, "%s: %s", path, strerror(errno));
}

/* ---- measuring ------------------------------------------------------------------------------- */

/* Writes a cell that was measured, reports it, and adds it to the result. */
static int take_cell(struct bench_measure *b, struct bench_cell *cell, struct gs_error *err)
{
	int r;

	b->partly |= cell->failed[0];
	cell->where = bench_result_where(&b->run);
	if (b->raw) { /* comes before sorting: raw latencies are in the order of measurement */
		CLEANUP_JSON json_t *line = bench_result_cell_json(&b->run, cell);

		if (gs_json_line(b->raw, line) || fflush(b->raw))
			return gs_fail(err, -EIO, "the raw data cannot be written");
	}
	gs_sample_sort(cell->latency_us, cell->n);
	gs_sample_sort(cell->token_us, cell->ntokens);
	if (b->tell)
		b->tell(cell);
	r = bench_result_add(&b->result, cell);
	return r ? gs_fail(err, r, "out of memory") : 0;
}

/* How many blocks to measure at once, each on its own GPU. */
static unsigned int side_by_side(const struct bench_measure *b, unsigned int left)
{
	return left < b->run.gpus ? left : b->run.gpus;
}

/*
 * Measures @picks of one load, in as many blocks from @block on as there are GPUs. Outside the
 * model the programs are started once for all @picks, so these must have the same programs.
 */
static int measure_cells(struct bench_measure *b, const struct bench_pick *const *picks, size_t n,
			 unsigned int block, struct gs_error *err)
{
	struct bench_cell cells[BENCH_SCHEMES_MAX * BENCH_GPUS] = {};
	const struct bench_pick *p = picks[0];
	unsigned int ngpus = side_by_side(b, p->blocks - block);
	uint64_t begun = gs_now_ns(), each;
	int r;

	for (size_t i = 0; i < ngpus * n; i++) {
		cells[i].load = p->scheme->alone ? bench_table_alone(p->load) : p->load;
		cells[i].scheme = picks[i % n]->scheme;
		cells[i].block = block + (unsigned int)(i / n);
	}
	r = b->run.mode == BENCH_SIM ? bench_on_model(&b->run, cells, err)
				     : bench_on_path(&b->run, cells, n, ngpus, err);
	each = (gs_now_ns() - begun) / n;
	if (each > b->longest_ns)
		b->longest_ns = each;
	for (size_t i = 0; !r && i < ngpus * n; i++)
		r = take_cell(b, &cells[i], err);
	for (size_t i = 0; i < ngpus * n; i++)
		bench_result_free_cell(&cells[i]);
	return r;
}

/*
 * True if the row lacks a result for one of the blocks that are measured at once, from @block on.
 */
static bool to_measure(struct bench_measure *b, const struct bench_pick *p, unsigned int block)
{
	for (unsigned int i = block; i < p->blocks && i < block + b->run.gpus; i++) {
		const struct bench_cell *c = bench_result_find(&b->result, p->load, p->scheme, i);

		if (!c || c->failed[0])
			return true;
	}
	return false;
}

/*
 * How many of @picks to measure at once: the first, and those with the same programs, which are
 * moved up behind it. Only as many as there is time for.
 */
static size_t at_once(const struct bench_measure *b, const struct bench_pick **picks, size_t n)
{
	uint64_t now = gs_now_ns();
	size_t k = 1;

	for (size_t i = 1; i < n && b->run.mode != BENCH_SIM; i++) {
		const struct bench_pick *p = picks[i];

		if (!bench_path_same_programs(picks[0]->scheme, p->scheme))
			continue;
		memmove(&picks[k + 1], &picks[k], (i - k) * sizeof(*picks));
		picks[k++] = p;
	}
	while (k && now + k * b->longest_ns > b->end_ns)
		k--;
	return k;
}

/*
 * Measures one load in one block, or on several GPUs in a block on each. Each block begins with
 * another scheme.
 */
static int measure_load(struct bench_measure *b, const struct bench_pick *all, size_t n,
			unsigned int block, struct gs_error *err)
{
	const struct bench_pick *todo[BENCH_SCHEMES_MAX];
	size_t left = 0, k, turn = block / b->run.gpus;
	int r = 0;

	for (size_t i = 0; i < n; i++)
		if (to_measure(b, &all[(i + turn) % n], block))
			todo[left++] = &all[(i + turn) % n];
	for (size_t at = 0; !r && at < left; at += k) {
		k = at_once(b, todo + at, left - at);
		if (!k) {
			b->partly = true;
			return 0;
		}
		r = measure_cells(b, todo + at, k, block, err);
	}
	return r;
}

/* Makes one pass over all loads. */
static int measure_block(struct bench_measure *b, unsigned int block, struct gs_error *err)
{
	int r = 0;

	for (size_t from = 0, n; !r && from < b->npicks; from += n) {
		for (n = 1; from + n < b->npicks && b->picks[from + n].load == b->picks[from].load;)
			n++;
		r = measure_load(b, &b->picks[from], n, block, err);
	}
	return r;
}

static bool leaves_open(const struct bench_measure *b, const struct bench_pick *p)
{
	CLEANUP_JSON json_t *row = p->blocks ? bench_result_row(&b->run, &b->result, p) : NULL;

	return gs_json_at(row, "open");
}

/*
 * True for the schemes "default" and "alone": each block of a load has both, whatever else is
 * measured.
 */
static bool in_each_block(const struct bench_pick *p)
{
	return p->blocks && (p->scheme->alone || p->scheme == bench_table_scheme("default"));
}

/*
 * Raises the blocks of each undecided row to @blocks, and those of the schemes "default" and
 * "alone" of its load. Returns false if all rows are decided.
 */
static bool go_on(struct bench_measure *b, unsigned int blocks)
{
	bool any = false;

	for (size_t i = 0; i < b->npicks; i++) {
		if (!leaves_open(b, &b->picks[i]))
			continue;
		any = true;
		for (size_t k = 0; k < b->npicks; k++)
			if (k == i ||
			    (b->picks[k].load == b->picks[i].load && in_each_block(&b->picks[k])))
				b->picks[k].blocks = blocks;
	}
	return any;
}

int bench_measure(struct bench_measure *b, struct gs_error *err)
{
	unsigned int blocks = 0;
	int r = 0;

	for (size_t i = 0; i < b->npicks; i++)
		if (b->picks[i].blocks > blocks)
			blocks = b->picks[i].blocks;
	for (;;) {
		for (unsigned int i = 0; !r && i < blocks; i += b->run.gpus)
			r = measure_block(b, i, err);
		if (r || b->counted || b->partly || blocks >= MOST_BLOCKS)
			return r;
		blocks += b->run.gpus;
		if (!go_on(b, blocks < MOST_BLOCKS ? blocks : MOST_BLOCKS))
			return 0;
	}
}
