// SPDX-License-Identifier: MIT
/* bench - loads under schemes: what to measure, in which order, until when; the table */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "basic/beside.h"
#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/env.h"
#include "basic/parse.h"
#include "cli/bench.h"
#include "cli/cli.h"
#include "cli/look.h"
#include "cli/probe.h"
#include "cli/spawn.h"

#define CORE_BLOCKS 5
#define OTHER_BLOCKS 3
#define MOST_BLOCKS 10 /* of a load that leaves a figure open */
#define DILATE 8

struct bench {
	struct cli *c;
	struct bench_run run;
	struct bench_pick *picks;
	size_t npicks;
	struct bench_result result;
	const char *dir; /* NULL: nothing is kept */
	FILE *raw;
	uint64_t end_ns, longest_ns; /* of the whole; of one cell so far */
	bool resume, quick, partly;
	bool counted;    /* as many blocks as were asked for */
	bool only_looks; /* --minutes 0: nothing is measured */
};

static void bench_free(struct bench *b)
{
	bench_path_end(&b->run);
	bench_result_free(&b->result);
	free(b->picks);
	if (b->raw)
		fclose(b->raw);
}

/* ---- what is asked for ----------------------------------------------------------------------- */

static const struct {
	double seconds, warmup_s, quick_seconds;
	unsigned int quick_blocks;
} lengths[BENCH_MODES] = {
	[BENCH_REAL] = { 5, 3, 3, 1 },
	[BENCH_PATH] = { 1, 0.5, 0.5, 1 },
	[BENCH_SIM] = { 30, 4, 5, 2 },
};

static int parse_mode(struct bench *b, struct gs_error *err)
{
	const char *mode = cli_opt(b->c, "gpu");

	for (unsigned int i = 0; mode && i < BENCH_MODES; i++) {
		if (strcmp(mode, bench_mode_names[i]))
			continue;
		b->run.mode = (enum bench_mode)i;
		mode = NULL;
	}
	if (mode)
		return gs_fail(err, -EINVAL, "--gpu is real, path or sim, not '%s'", mode);
	if (b->run.mode == BENCH_REAL && gs_env()->sim && !cli_opt(b->c, "list"))
		return gs_fail(err, -EINVAL, "the GPU of this shell is simulated: --gpu path");
	if (cli_opt(b->c, "dilate") && b->run.mode != BENCH_PATH)
		return gs_fail(err, -EINVAL, "--dilate goes with --gpu path");
	return 0;
}

static int parse(struct bench *b, unsigned int *ret_blocks, struct gs_error *err)
{
	const char *blocks = cli_opt(b->c, "blocks"), *minutes = cli_opt(b->c, "minutes");
	const char *seconds = cli_opt(b->c, "seconds"), *warmup = cli_opt(b->c, "warmup");
	const char *gpus = cli_opt(b->c, "gpus");
	uint64_t n = 0, ngpus = 1;
	double limit = 0;
	int r = parse_mode(b, err);

	b->quick = cli_opt(b->c, "quick");
	b->counted = b->quick || blocks;
	b->resume = cli_opt(b->c, "resume");
	b->dir = cli_opt(b->c, "out");
	b->run.dilate = b->run.mode == BENCH_PATH ? gs_env()->dilate : 1;
	b->run.seconds =
		b->quick ? lengths[b->run.mode].quick_seconds : lengths[b->run.mode].seconds;
	b->run.warmup_s = lengths[b->run.mode].warmup_s;
	if (!r && seconds)
		r = cli_of_option("seconds",
				  gs_parse_double_in(1e6, seconds, 0.1, 3600, &b->run.seconds, err),
				  err);
	if (!r && warmup)
		r = cli_of_option("warmup",
				  gs_parse_double_in(1e6, warmup, 0, 3600, &b->run.warmup_s, err),
				  err);
	if (!r && blocks)
		r = cli_of_option("blocks", gs_parse_u64(blocks, 1, 50, &n, err), err);
	if (!r && minutes)
		r = cli_of_option("minutes", gs_parse_double(minutes, 0, 10000, &limit, err), err);
	if (!r && gpus)
		r = cli_of_option("gpus", gs_parse_u64(gpus, 1, BENCH_GPUS, &ngpus, err), err);
	if (!r && b->run.mode == BENCH_SIM && ngpus > 1)
		r = gs_fail(err, -EINVAL, "--gpus goes with real GPUs, or --gpu path");
	if (!r && b->resume && !b->dir)
		r = gs_fail(err, -EINVAL, "--resume needs --out DIR");
	if (r)
		return r;
	*ret_blocks = (unsigned int)n;
	b->run.gpus = (unsigned int)ngpus;
	b->only_looks = b->resume && minutes && limit == 0;
	b->end_ns = minutes ? gs_now_ns() + (uint64_t)(limit * 60e9) : UINT64_MAX;
	return 0;
}

/* @list is names with commas between; NULL: all. */
static bool listed(const char *list, const char *name)
{
	size_t n = strlen(name);

	for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
		if (!strncmp(at, name, n) && (at[n] == ',' || !at[n]))
			return true;
	return !list;
}

static bool known_load(const char *name)
{
	return bench_load(name);
}

static bool known_scheme(const char *name)
{
	return bench_scheme(name);
}

static int check_names(const char *list, const char *what, bool (*known)(const char *name),
		       struct gs_error *err)
{
	CLEANUP_FREE char *copy = list ? strdup(list) : NULL;
	char *at = copy, *word;

	while (at && (word = strsep(&at, ",")))
		if (!known(word))
			return gs_fail(err, -EINVAL,
				       "there is no %s '%s': see 'gpusched bench --list'", what,
				       word);
	return 0;
}

/* Policies of the user's own are schemes, too. */
static int add_policies(const char *list, struct gs_error *err)
{
	CLEANUP_FREE char *copy = list ? strdup(list) : NULL;
	char *at = copy, *word;
	int r = 0;

	while (!r && at && (word = strsep(&at, ",")))
		r = bench_add_policy(word, err);
	return r;
}

/* The rows, in the tables' order: those of one load side by side. */
static int choose(struct bench *b, unsigned int blocks, struct gs_error *err)
{
	const char *loads = cli_opt(b->c, "load"), *schemes = cli_opt(b->c, "scheme");
	size_t nschemes = bench_nschemes();
	int r = check_names(loads, "load", known_load, err);

	if (!r)
		r = check_names(schemes, "scheme", known_scheme, err);
	if (r)
		return r;
	b->picks = calloc(bench_nloads * nschemes, sizeof(*b->picks));
	if (!b->picks)
		return gs_fail(err, -ENOMEM, "out of memory");
	for (size_t i = 0; i < bench_nloads * nschemes; i++) {
		const struct bench_load *l = &bench_loads[i / nschemes];
		const struct bench_scheme *s = &bench_schemes[i % nschemes];
		struct bench_pick *p = &b->picks[b->npicks];

		if (!listed(loads, l->name) || (!s->runs && !listed(schemes, s->name)) ||
		    (!l->core && !s->everywhere && !schemes))
			continue;
		p->load = l;
		p->scheme = s;
		if (!bench_absent(l, s, b->run.mode, p->absent, sizeof(p->absent)))
			p->blocks = blocks     ? blocks
				    : b->quick ? lengths[b->run.mode].quick_blocks
				    : l->core  ? CORE_BLOCKS
					       : OTHER_BLOCKS;
		b->npicks++;
	}
	return 0;
}

/* What it is, and why it is not here. */
static char *listed_text(const json_t *row)
{
	const char *absent = json_string_value(gs_json_at(row, "absent"));
	char *text = NULL;

	return asprintf(&text, "%s%s%s%s", json_string_value(gs_json_at(row, "text")),
			absent ? " (not here: " : "", absent ? absent : "", absent ? ")" : "") < 0
		       ? NULL
		       : text;
}

static int print_list(struct bench *b)
{
	static const struct gs_column columns[] = {
		{ "kind", "KIND" }, { "name", "NAME" },
		{ "core", "CORE" }, { "text", "WHAT", GS_COL_WRAP, .cell = listed_text },
		{ "absent" },
	};
	CLEANUP_JSON json_t *rows = json_array();
	char why[160];

	for (size_t i = 0; i < bench_nloads; i++) {
		const struct bench_load *l = &bench_loads[i];

		bench_absent(l, bench_scheme("default"), b->run.mode, why, sizeof(why));
		json_array_append_new(rows, json_pack("{s:s, s:s, s:b, s:s?, s:s}", "kind", "load",
						      "name", l->name, "core", l->core, "absent",
						      why[0] ? why : NULL, "text", l->text));
	}
	for (size_t i = 0; i < bench_nschemes(); i++) {
		const struct bench_scheme *s = &bench_schemes[i];

		bench_absent(&bench_loads[0], s, b->run.mode, why, sizeof(why));
		json_array_append_new(rows,
				      json_pack("{s:s, s:s, s:b, s:s?, s:s}", "kind", "scheme",
						"name", s->name, "core", !s->everywhere, "absent",
						why[0] ? why : NULL, "text", s->text));
	}
	return cli_print_rows(b->c, columns, GS_COUNT(columns), rows);
}

/* ---- raw data -------------------------------------------------------------------------------- */

/* Of results that are only looked at: whose they are. */
static void know_origin(struct bench *b, const json_t *line)
{
	const char *mode = json_string_value(json_object_get(line, "mode"));
	const char *machine = json_string_value(json_object_get(line, "machine"));
	const char *gpu = json_string_value(json_object_get(line, "gpu"));

	if (!mode || strcmp(mode, bench_mode_names[b->run.mode]))
		return;
	snprintf(b->run.machine, sizeof(b->run.machine), "%s", machine ? machine : "");
	snprintf(b->run.gpu, sizeof(b->run.gpu), "%s", gpu ? gpu : "");
}

static int read_raw(struct bench *b, const char *path, struct gs_error *err)
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
		/* the last one may have been cut off */
		if (!o || bench_cell_parse(&b->run, o, &cell) < 0)
			continue;
		r = bench_result_add(&b->result, &cell);
	}
	return r ? gs_fail(err, r, "out of memory") : 0;
}

static int open_raw(struct bench *b, struct gs_error *err)
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
		fputc('\n', b->raw); /* behind a line that was cut off */
	return b->raw ? 0 : gs_fail(err, -errno, "%s: %s", path, strerror(errno));
}

/* ---- measuring ------------------------------------------------------------------------------- */

static const char *number(int digits, double v, char *buf, size_t size)
{
	snprintf(buf, size, "%.*f", digits, v);
	return isfinite(v) ? buf : "-";
}

static void tell(const struct bench_cell *cell)
{
	char rate[32], lost[32];
	const char *be = number(0, cell->be_rate, rate, sizeof(rate));

	fprintf(stderr, "block %u  %-11s %-12s ", cell->block + 1, cell->load->name,
		cell->scheme->name);
	if (cell->failed[0])
		fprintf(stderr, "failed: %s\n", cell->failed);
	else if (!cell->n)
		fprintf(stderr, "BE %s/s\n", be);
	else
		fprintf(stderr, "LC p50 %.0f p99 %.0f us, BE %s/s, lost %s %%%s\n",
			cell->latency_us[gs_quantile_at(cell->n, 0.5)],
			cell->latency_us[gs_quantile_at(cell->n, 0.99)], be,
			number(1, cell->lost_pct, lost, sizeof(lost)),
			cell->proved ? "" : ", NOT as the scheme says");
}

/* It has been measured: kept, told, and part of the result. */
static int take_cell(struct bench *b, struct bench_cell *cell, struct gs_error *err)
{
	int r;

	b->partly |= cell->failed[0];
	if (b->raw) { /* latencies as they came */
		CLEANUP_JSON json_t *line = bench_cell_json(&b->run, cell);

		if (gs_json_line(b->raw, line) || fflush(b->raw))
			return gs_fail(err, -EIO, "the raw data cannot be written");
	}
	gs_sort(cell->latency_us, cell->n);
	if (b->run.mode != BENCH_SIM)
		tell(cell);
	r = bench_result_add(&b->result, cell);
	return r ? gs_fail(err, r, "out of memory") : 0;
}

/* How many blocks are measured at once, each on a GPU of its own. */
static unsigned int side_by_side(const struct bench *b, unsigned int left)
{
	return left < b->run.gpus ? left : b->run.gpus;
}

/* @picks of one load, with the same programs where they are real; from @block on. */
static int measure_cells(struct bench *b, const struct bench_pick *const *picks, size_t n,
			 unsigned int block, struct gs_error *err)
{
	struct bench_cell cells[BENCH_SCHEMES_MAX * BENCH_GPUS] = {};
	const struct bench_pick *p = picks[0];
	unsigned int ngpus = side_by_side(b, p->blocks - block);
	uint64_t begun = gs_now_ns(), each;
	int r;

	for (size_t i = 0; i < ngpus * n; i++) {
		cells[i].load = p->scheme->alone ? bench_alone_of(p->load) : p->load;
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
		bench_cell_free(&cells[i]);
	return r;
}

/* One of the blocks from @block on that are measured at once. */
static bool to_measure(struct bench *b, const struct bench_pick *p, unsigned int block)
{
	for (unsigned int i = block; i < p->blocks && i < block + b->run.gpus; i++) {
		const struct bench_cell *c = bench_result_find(&b->result, p->load, p->scheme, i);

		if (!c || c->failed[0])
			return true;
	}
	return false;
}

/*
 * How many of @picks can be measured at once, the first and those with the same programs, which are
 * moved behind it; as many as the time is enough for.
 */
static size_t at_once(const struct bench *b, const struct bench_pick **picks, size_t n)
{
	uint64_t now = gs_now_ns();
	size_t k = 1;

	for (size_t i = 1; i < n && b->run.mode != BENCH_SIM; i++) {
		const struct bench_pick *p = picks[i];

		if (!bench_same_programs(picks[0]->scheme, p->scheme))
			continue;
		memmove(&picks[k + 1], &picks[k], (i - k) * sizeof(*picks));
		picks[k++] = p;
	}
	while (k && now + k * b->longest_ns > b->end_ns)
		k--;
	return k;
}

/* One load in one block. The order of the schemes turns with the block. */
static int measure_load(struct bench *b, const struct bench_pick *all, size_t n, unsigned int block,
			struct gs_error *err)
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

/* One pass over all loads. */
static int measure_block(struct bench *b, unsigned int block, struct gs_error *err)
{
	int r = 0;

	for (size_t from = 0, n; !r && from < b->npicks; from += n) {
		for (n = 1; from + n < b->npicks && b->picks[from + n].load == b->picks[from].load;)
			n++;
		r = measure_load(b, &b->picks[from], n, block, err);
	}
	return r;
}

static bool leaves_open(const struct bench *b, const struct bench_pick *p)
{
	CLEANUP_JSON json_t *row = p->blocks ? bench_row(&b->run, &b->result, p) : NULL;

	return gs_json_at(row, "open");
}

/* The rows that leave a figure open, and the default beside them, get blocks up to @blocks. */
static bool go_on(struct bench *b, unsigned int blocks)
{
	const struct bench_scheme *by_default = bench_scheme("default");
	bool any = false;

	for (size_t i = 0; i < b->npicks; i++) {
		if (!leaves_open(b, &b->picks[i]))
			continue;
		any = true;
		for (size_t k = 0; k < b->npicks; k++)
			if (k == i || (b->picks[k].load == b->picks[i].load &&
				       b->picks[k].scheme == by_default && b->picks[k].blocks))
				b->picks[k].blocks = blocks;
	}
	return any;
}

static int measure(struct bench *b, struct gs_error *err)
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

/* ---- the table ------------------------------------------------------------------------------- */

static char *with_interval(const json_t *row, const char *key, double by, int digits)
{
	const json_t *v = gs_json_at(row, key), *in;
	char name[64], *text = NULL;

	if (!v)
		return NULL;
	snprintf(name, sizeof(name), "%s_interval", key);
	in = json_object_get(row, name);
	if (json_is_array(in) &&
	    asprintf(&text, "%.*f (%.*f-%.*f)", digits, by * json_number_value(v), digits,
		     by * json_number_value(json_array_get(in, 0)), digits,
		     by * json_number_value(json_array_get(in, 1))) > 0)
		return text;
	return asprintf(&text, "%.*f", digits, by * json_number_value(v)) > 0 ? text : NULL;
}

static char *p50_cell(const json_t *row)
{
	return with_interval(row, "lc_p50_us", 1, 0);
}

static char *p99_cell(const json_t *row)
{
	return with_interval(row, "lc_p99_us", 1, 0);
}

static char *share_cell(const json_t *row)
{
	return with_interval(row, "be_share_of_default", 100, 1);
}

/* A figure that may be worse than it should, or not. */
static char *open_cell(const json_t *row)
{
	const char *open = json_string_value(gs_json_at(row, "open"));
	char name[64], *text = NULL;
	const json_t *in;

	if (!open)
		return NULL;
	snprintf(name, sizeof(name), "%s_interval", open);
	in = json_object_get(row, name);
	return asprintf(&text, "%s is open: %.2f-%.2f", open,
			json_number_value(json_array_get(in, 0)),
			json_number_value(json_array_get(in, 1))) > 0
		       ? text
		       : NULL;
}

/* Why a figure is not there, or should not be trusted. */
static char *note_cell(const json_t *row)
{
	const json_t *absent = gs_json_at(row, "absent"), *failed = gs_json_at(row, "failed");

	if (absent || failed)
		return gs_json_cell(absent ? absent : failed);
	if (json_is_false(json_object_get(row, "proved")))
		return strdup("settings were not as the scheme says");
	return open_cell(row);
}

static const struct gs_column columns[] = {
	{ "load", "LOAD" },
	{ "scheme", "SCHEME" },
	{ "blocks", "BLOCKS", GS_COL_RIGHT },
	{ "lc_p50_us", "LC P50 US", GS_COL_RIGHT, .cell = p50_cell, .spare = 1 },
	{ "lc_p99_us", "LC P99 US", GS_COL_RIGHT, .cell = p99_cell },
	{ "be_rate", "BE/S", GS_COL_TENTHS },
	{ "be_share_of_default", "BE % OF DEFAULT", GS_COL_RIGHT, .cell = share_cell },
	{ "lost_pct", "LOST %", GS_COL_TENTHS },
	{ "note", "NOTE", GS_COL_WRAP, .cell = note_cell },
};

/* rows.jsonl and table.txt beside the raw data, and the pictures. */
static int keep(struct bench *b, json_t *rows, struct gs_error *err)
{
	static const struct {
		const char *name;
		enum gs_sheet_mode mode;
	} files[] = { { "rows.jsonl", GS_SHEET_JSON }, { "table.txt", GS_SHEET_PLAIN } };
	char path[4096];
	json_t *row;
	size_t k;

	for (size_t i = 0; i < GS_COUNT(files); i++) {
		CLEANUP_SHEET struct gs_sheet *t = NULL;
		CLEANUP_FILE FILE *f = NULL;

		snprintf(path, sizeof(path), "%s/%s", b->dir, files[i].name);
		f = fopen(path, "we");
		if (!f || gs_sheet_new(columns, GS_COUNT(columns), files[i].mode, f, &t))
			return gs_fail(err, -EIO, "%s: %s", path, strerror(errno));
		json_array_foreach(rows, k, row)
			gs_sheet_row(t, row);
		if (gs_sheet_end(t))
			return gs_fail(err, -EIO, "%s cannot be written", path);
	}
	return bench_plot(&b->run, &b->result, b->picks, b->npicks, b->dir, err);
}

/* The different values that @key has in rows of this reason. */
static void print_names(const json_t *rows, const char *why, const char *key)
{
	CLEANUP_JSON json_t *told = json_object();
	json_t *row;
	size_t i;

	json_array_foreach(rows, i, row) {
		const char *absent = json_string_value(json_object_get(row, "absent"));
		const char *name = json_string_value(json_object_get(row, key));

		if (!absent || strcmp(absent, why) || json_object_get(told, name))
			continue;
		printf("%s %s", json_object_size(told) ? "," : "", name);
		json_object_set_new(told, name, json_true());
	}
}

/* By reason: which rows are not there. */
static void print_absent(const json_t *rows)
{
	CLEANUP_JSON json_t *told = json_object();
	json_t *row;
	size_t i;

	json_array_foreach(rows, i, row) {
		const char *why = json_string_value(json_object_get(row, "absent"));

		if (!why || json_object_get(told, why))
			continue;
		json_object_set_new(told, why, json_true());
		printf("not measured, %s:", why);
		print_names(rows, why, "scheme");
		fputs("; of", stdout);
		print_names(rows, why, "load");
		putchar('\n');
	}
}

static int print_rows(const struct bench *b, json_t *rows)
{
	CLEANUP_JSON json_t *there = json_array();
	json_t *row;
	size_t i;
	int r;

	if (b->c->json)
		return cli_print_rows(b->c, columns, GS_COUNT(columns), rows);
	json_array_foreach(rows, i, row)
		if (!gs_json_at(row, "absent"))
			json_array_append(there, row);
	printf("%s, %s: medians over blocks, 95 %% intervals in brackets\n", b->run.gpu,
	       bench_mode_names[b->run.mode]);
	r = cli_print_rows(b->c, columns, GS_COUNT(columns), there);
	print_absent(rows);
	return r;
}

/* Has something to show. The LC alone stands for many loads: not for one of which nothing is known. */
static bool to_show(const struct bench *b, const struct bench_pick *p, const json_t *row)
{
	if (!b->only_looks || gs_json_at(row, "failed"))
		return true;
	if (p->scheme->alone && p->load != bench_alone_of(p->load) &&
	    !bench_result_find(&b->result, p->load, bench_scheme("default"), 0))
		return false;
	return cli_number(row, "blocks") > 0;
}

static int report(struct bench *b)
{
	CLEANUP_JSON json_t *rows = json_array();
	struct gs_error err = {};
	int r;

	for (size_t i = 0; i < b->npicks; i++) {
		CLEANUP_JSON json_t *row = bench_row(&b->run, &b->result, &b->picks[i]);

		if (to_show(b, &b->picks[i], row))
			json_array_append(rows, row);
	}
	if (b->dir && keep(b, rows, &err))
		fprintf(stderr, "gpusched: bench: %s\n", err.text);
	r = print_rows(b, rows);
	return r ? r : b->partly ? GS_EXIT_PARTLY : GS_EXIT_OK;
}

/* ---- where ----------------------------------------------------------------------------------- */

/* This program again, in a world with a simulated GPU. */
static int enter_sim(struct bench *b)
{
	const char *argv[96], *dilate = cli_opt(b->c, "dilate");
	char self[512], factor[32], gpus[16], names[GS_COUNT(b->c->opts)][40];
	size_t n = 0;

	gs_beside("gpusched", self, sizeof(self));
	snprintf(factor, sizeof(factor), "%s", dilate ? dilate : "");
	if (!dilate)
		snprintf(factor, sizeof(factor), "%d", DILATE);
	argv[n++] = self;
	argv[n++] = "sim";
	argv[n++] = "shell";
	argv[n++] = "--dilate";
	argv[n++] = factor;
	snprintf(gpus, sizeof(gpus), "%u", b->run.gpus);
	argv[n++] = "--gpus";
	argv[n++] = gpus;
	argv[n++] = "--";
	argv[n++] = self;
	argv[n++] = "bench";
	for (size_t i = 0; i < b->c->nopts; i++) {
		snprintf(names[i], sizeof(names[i]), "--%s", b->c->opts[i].name);
		argv[n++] = names[i];
		if (b->c->opts[i].value && *b->c->opts[i].value)
			argv[n++] = b->c->opts[i].value;
	}
	if (b->c->json)
		argv[n++] = "--json";
	argv[n] = NULL;
	fflush(stdout);
	execv(self, (char *const *)argv);
	return cli_fail(-errno, "bench: %s: %s", self, strerror(errno));
}

/* Ready to measure in this mode; else the exit code of what was said. */
static int begin(struct bench *b, struct gs_error *err)
{
	char missing[512];
	int r;

	if (b->only_looks)
		return 0;
	if (b->run.mode == BENCH_SIM) {
		snprintf(b->run.machine, sizeof(b->run.machine), "model");
		snprintf(b->run.gpu, sizeof(b->run.gpu), "%s", bench_model_name());
		return 0;
	}
	if (b->run.mode == BENCH_PATH) {
		cli_path_missing(missing, sizeof(missing));
		if (missing[0])
			return cli_fail(-ENOTSUP, "bench: --gpu path: %s", missing);
		if (!gs_env()->sim)
			return enter_sim(b);
	} else {
		r = cli_need_gpu("bench");
		if (r)
			return r;
	}
	r = bench_path_begin(&b->run, err);
	return r ? cli_fail(r == -EBUSY ? -ENOTSUP : r, "bench: %s", err->text) : 0;
}

int cli_bench(struct cli *c)
{
	CLEANUP(bench_free) struct bench b = { .c = c };
	struct gs_error err = {};
	unsigned int blocks = 0;
	int r;

	r = parse(&b, &blocks, &err);
	if (!r)
		r = add_policies(cli_opt(c, "policy"), &err);
	if (r)
		return cli_fail(r, "bench: %s", err.text);
	if (cli_opt(c, "list"))
		return print_list(&b);
	r = choose(&b, blocks, &err);
	if (r)
		return cli_fail(r, "bench: %s", err.text);
	r = begin(&b, &err);
	if (r)
		return r;
	r = open_raw(&b, &err);
	if (!r && !b.only_looks)
		r = measure(&b, &err);
	if (r == -EINTR) { /* what was measured until then is shown */
		b.partly = true;
		r = 0;
	}
	if (r)
		return cli_fail(r, "bench: %s", err.text);
	return report(&b);
}
