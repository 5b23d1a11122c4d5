// SPDX-License-Identifier: MIT
/*
 * bench.c - measures loads (an LC and some BEs) under schemes of sharing a GPU
 *
 * This file chooses loads and schemes, shows progress, and prints the table.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "basic/beside.h"
#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/env.h"
#include "basic/parse.h"
#include "bench/given.h"
#include "bench/measure.h"
#include "cli/cli.h"
#include "cli/verbs_look.h"
#include "probe/probe.h"

#define CORE_BLOCKS 5
#define OTHER_BLOCKS 3
#define DILATE 8

struct bench {
	struct cli *c;
	struct bench_measure m;
	bool quick;
	bool only_looks; /* --minutes 0: shows results, and measures nothing */
};

static void bench_free(struct bench *b)
{
	bench_measure_free(&b->m);
}

/* ---- progress -------------------------------------------------------------------------------- */

static const char *number(int digits, double v, char *buf, size_t size)
{
	snprintf(buf, size, "%.*f", digits, v);
	return isfinite(v) ? buf : "-";
}

static void tell(const struct bench_cell *cell)
{
	char rate[32], lost[32];
	bool p99 = cell->n >= BENCH_P99_EACH;
	const char *be = number(0, cell->be_rate, rate, sizeof(rate));

	fprintf(stderr, "block %u  %-11s %-12s ", cell->block + 1, cell->load->name,
		cell->scheme->name);
	if (cell->failed[0])
		fprintf(stderr, "failed: %s\n", cell->failed);
	else if (!cell->n)
		fprintf(stderr, "BE %s/s\n", be);
	else
		fprintf(stderr, "LC p50 %.0f %s %.0f us of %zu, BE %s/s, lost %s %%%s\n",
			cell->latency_us[gs_quantile_at(cell->n, 0.5)], p99 ? "p99" : "p90",
			cell->latency_us[gs_quantile_at(cell->n, p99 ? 0.99 : 0.9)], cell->n, be,
			number(1, cell->lost_pct, lost, sizeof(lost)),
			cell->proved ? "" : ", NOT as the scheme says");
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

	b->m.run.params = cli_opt(b->c, "params");

	for (unsigned int i = 0; mode && i < BENCH_MODES; i++) {
		if (strcmp(mode, bench_mode_names[i]))
			continue;
		b->m.run.mode = (enum bench_mode)i;
		mode = NULL;
	}
	if (mode)
		return gs_fail(err, -EINVAL, "--gpu is real, path or sim, not '%s'", mode);
	if (b->m.run.mode == BENCH_REAL && gs_env()->sim && !cli_opt(b->c, "list"))
		return gs_fail(err, -EINVAL, "the GPU of this shell is simulated: --gpu path");
	if (cli_opt(b->c, "dilate") && b->m.run.mode != BENCH_PATH)
		return gs_fail(err, -EINVAL, "--dilate goes with --gpu path");
	if (b->m.run.params && b->m.run.mode == BENCH_REAL)
		return gs_fail(err, -EINVAL, "--params goes with --gpu path or sim");
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

	b->m.tell = b->m.run.mode == BENCH_SIM || cli_opt(b->c, "held-out") ? NULL : tell;
	b->quick = cli_opt(b->c, "quick");
	b->m.counted = b->quick || blocks;
	b->m.resume = cli_opt(b->c, "resume");
	b->m.dir = cli_opt(b->c, "out");
	b->m.run.dilate = b->m.run.mode == BENCH_PATH ? gs_env()->dilate : 1;
	b->m.run.seconds =
		b->quick ? lengths[b->m.run.mode].quick_seconds : lengths[b->m.run.mode].seconds;
	b->m.run.warmup_s = lengths[b->m.run.mode].warmup_s;
	if (!r && seconds)
		r = cli_of_option(
			"seconds",
			gs_parse_double_in(1e6, seconds, 0.1, 3600, &b->m.run.seconds, err), err);
	if (!r && warmup)
		r = cli_of_option("warmup",
				  gs_parse_double_in(1e6, warmup, 0, 3600, &b->m.run.warmup_s, err),
				  err);
	if (!r && blocks)
		r = cli_of_option("blocks", gs_parse_u64(blocks, 1, 50, &n, err), err);
	if (!r && minutes)
		r = cli_of_option("minutes", gs_parse_double(minutes, 0, 10000, &limit, err), err);
	if (!r && gpus)
		r = cli_of_option("gpus", gs_parse_u64(gpus, 1, BENCH_GPUS, &ngpus, err), err);
	if (!r && b->m.run.mode == BENCH_SIM && ngpus > 1)
		r = gs_fail(err, -EINVAL, "--gpus goes with real GPUs, or --gpu path");
	if (!r && b->m.resume && !b->m.dir)
		r = gs_fail(err, -EINVAL, "--resume needs --out DIR");
	if (r)
		return r;
	*ret_blocks = (unsigned int)n;
	b->m.run.gpus = (unsigned int)ngpus;
	b->only_looks = b->m.resume && minutes && limit == 0;
	b->m.end_ns = minutes ? gs_now_ns() + (uint64_t)(limit * 60e9) : UINT64_MAX;
	return 0;
}

/*
 * True if @list (names separated by commas) has the load. A name may be the part of a load's name
 * before a dash: "blocks", "llm". @list NULL: true if the load's held_out is @held_out.
 */
static bool load_listed(const char *list, const struct bench_load *l, bool held_out)
{
	for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
		if (bench_table_load_is(l, at, strcspn(at, ",")))
			return true;
	return !list && !l->asked && l->held_out == held_out;
}

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
	for (size_t i = 0; i < bench_table_nloads(); i++)
		if (bench_table_load_is(&bench_loads[i], name, strlen(name)))
			return true;
	return false;
}

static bool known_scheme(const char *name)
{
	return bench_table_scheme(name);
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

/* Adds a scheme for each of the user's own policies in @list. */
static int add_policies(const char *list, struct gs_error *err)
{
	CLEANUP_FREE char *copy = list ? strdup(list) : NULL;
	char *at = copy, *word;
	int r = 0;

	while (!r && at && (word = strsep(&at, ",")))
		r = bench_table_add_policy(word, err);
	return r;
}

/* Adds the loads that @list gives as files. */
static int add_loads(const char *list, struct gs_error *err)
{
	CLEANUP_FREE char *copy = list ? strdup(list) : NULL;
	char *at = copy, *word;
	int r = 0;

	while (!r && at && (word = strsep(&at, ",")))
		if (bench_given_is_file(word))
			r = bench_given_add(word, err);
	return r;
}

/* Tells of arrivals that no cell has, since they come after its window. */
static void tell_left_out(const struct bench *b)
{
	for (size_t i = 0; !b->only_looks && i < bench_table_nloads(); i++) {
		const struct bench_load *l = &bench_loads[i];
		double all_s;
		size_t n = l->given ? bench_given_within(l, b->m.run.seconds, &all_s) : 0;

		if (l->given && n < l->given->trace.n)
			fprintf(stderr,
				"gpusched: bench: %s: %zu of %zu arrivals come within the %g s of "
				"a cell: --seconds %g takes all\n",
				l->given->path, n, l->given->trace.n, b->m.run.seconds, all_s);
	}
}

/* Chooses the rows, in the tables' order: rows of one load follow each other. */
static int choose(struct bench *b, unsigned int blocks, struct gs_error *err)
{
	const char *loads = cli_opt(b->c, "load"), *schemes = cli_opt(b->c, "scheme");
	size_t nschemes = bench_table_nschemes(), nloads = bench_table_nloads();
	int r = check_names(loads, "load", known_load, err);

	if (!r)
		r = check_names(schemes, "scheme", known_scheme, err);
	if (r)
		return r;
	b->m.picks = calloc(nloads * nschemes, sizeof(*b->m.picks));
	if (!b->m.picks)
		return gs_fail(err, -ENOMEM, "out of memory");
	for (size_t i = 0; i < nloads * nschemes; i++) {
		const struct bench_load *l = &bench_loads[i / nschemes];
		const struct bench_scheme *s = &bench_schemes[i % nschemes];
		struct bench_pick *p = &b->m.picks[b->m.npicks];

		if (!load_listed(loads, l, cli_opt(b->c, "held-out")) ||
		    (!s->runs && !listed(schemes, s->name)) ||
		    (!l->core && !s->everywhere && !schemes))
			continue;
		p->load = l;
		p->scheme = s;
		if (!bench_table_absent(l, s, b->m.run.mode, p->absent, sizeof(p->absent)))
			p->blocks = blocks     ? blocks
				    : b->quick ? lengths[b->m.run.mode].quick_blocks
				    : l->core  ? CORE_BLOCKS
					       : OTHER_BLOCKS;
		b->m.npicks++;
	}
	return 0;
}

/* A row's description, and why it cannot be measured here. */
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

	for (size_t i = 0; i < bench_table_nloads(); i++) {
		const struct bench_load *l = &bench_loads[i];

		bench_table_absent(l, bench_table_scheme("default"), b->m.run.mode, why,
				   sizeof(why));
		json_array_append_new(rows, json_pack("{s:s, s:s, s:b, s:s?, s:s}", "kind", "load",
						      "name", l->name, "core", l->core, "absent",
						      why[0] ? why : NULL, "text", l->text));
	}
	for (size_t i = 0; i < bench_table_nschemes(); i++) {
		const struct bench_scheme *s = &bench_schemes[i];

		bench_table_absent(&bench_loads[0], s, b->m.run.mode, why, sizeof(why));
		json_array_append_new(rows,
				      json_pack("{s:s, s:s, s:b, s:s?, s:s}", "kind", "scheme",
						"name", s->name, "core", !s->everywhere, "absent",
						why[0] ? why : NULL, "text", s->text));
	}
	return cli_screen_rows(b->c, columns, GS_COUNT(columns), rows);
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

/*
 * The 99th percentile. With too few requests, shows the 90th percentile and the largest latency
 * instead, and says so.
 */
static char *p99_cell(const json_t *row)
{
	char *text = NULL;

	if (gs_json_at(row, "lc_p99_us") || !gs_json_at(row, "lc_max_us"))
		return with_interval(row, "lc_p99_us", 1, 0);
	return asprintf(&text, "p90 %.0f, max %.0f", gs_json_number(row, "lc_p90_us"),
			gs_json_number(row, "lc_max_us")) > 0
		       ? text
		       : NULL;
}

static char *token_cell(const json_t *row)
{
	char *p50 = with_interval(row, "lc_token_p50_us", 1, 0);
	char *p99 = with_interval(row, "lc_token_p99_us", 1, 0), *text = NULL;

	if (p50 && asprintf(&text, "%s / %s", p50, p99 ? p99 : "-") < 0)
		text = NULL;
	free(p50);
	free(p99);
	return text;
}

static char *share_cell(const json_t *row)
{
	return with_interval(row, "be_share_of_default", 100, 1);
}

/* Names a figure with an interval too wide to tell whether it became worse than allowed. */
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

/* Why a figure is missing, or should not be trusted. */
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
	{ "lc_token_p50_us", "TOKEN P50 / P99", GS_COL_RIGHT, .cell = token_cell, .spare = 2 },
	{ "be_rate", "BE/S", GS_COL_TENTHS },
	{ "be_share_of_default", "BE % OF DEFAULT", GS_COL_RIGHT, .cell = share_cell },
	{ "lost_pct", "LOST %", GS_COL_TENTHS },
	{ "note", "NOTE", GS_COL_WRAP, .cell = note_cell },
};

/* Writes rows.jsonl, table.txt and the pictures into the folder of the raw data. */
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

		snprintf(path, sizeof(path), "%s/%s", b->m.dir, files[i].name);
		f = fopen(path, "we");
		if (!f || gs_sheet_new(columns, GS_COUNT(columns), files[i].mode, f, &t))
			return gs_fail(err, -EIO, "%s: %s", path, strerror(errno));
		json_array_foreach(rows, k, row)
			gs_sheet_row(t, row);
		if (gs_sheet_end(t))
			return gs_fail(err, -EIO, "%s cannot be written", path);
	}
	return bench_plot(&b->m.run, &b->m.result, b->m.picks, b->m.npicks, b->m.dir, err);
}

/* Prints the different values of @key in rows with this reason. */
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

/* Prints by reason which rows are missing. */
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

/* Prints held-out loads: only whether they can be measured, no figures. */
static int print_valid(const struct bench *b, const json_t *rows)
{
	static const struct gs_column shown[] = {
		{ "load", "LOAD" },
		{ "scheme", "SCHEME" },
		{ "blocks", "BLOCKS", GS_COL_RIGHT },
		{ "valid", "VALID" },
		{ "why", "WHY", GS_COL_WRAP },
	};
	CLEANUP_JSON json_t *list = json_array();
	json_t *row;
	size_t i;

	json_array_foreach(rows, i, row) {
		json_t *o = json_object(), *failed = json_object_get(row, "failed");
		bool absent = gs_json_at(row, "absent");

		json_object_set(o, "load", json_object_get(row, "load"));
		json_object_set(o, "scheme", json_object_get(row, "scheme"));
		json_object_set(o, "blocks", json_object_get(row, "blocks"));
		json_object_set_new(
			o, "valid",
			absent ? json_null()
			       : json_boolean(json_is_true(json_object_get(row, "proved")) &&
					      json_is_null(failed) &&
					      gs_json_number(row, "requests") > 0));
		json_object_set(o, "why", absent ? json_object_get(row, "absent") : failed);
		json_array_append_new(list, o);
	}
	return cli_screen_rows(b->c, shown, GS_COUNT(shown), list);
}

static int print_rows(const struct bench *b, json_t *rows)
{
	CLEANUP_JSON json_t *there = json_array();
	json_t *row;
	size_t i;
	int r;

	if (b->c->json)
		return cli_screen_rows(b->c, columns, GS_COUNT(columns), rows);
	json_array_foreach(rows, i, row)
		if (!gs_json_at(row, "absent"))
			json_array_append(there, row);
	printf("%s, %s: medians over blocks, 95 %% intervals in brackets\n", b->m.run.gpu,
	       bench_mode_names[b->m.run.mode]);
	r = cli_screen_rows(b->c, columns, GS_COUNT(columns), there);
	print_absent(rows);
	return r;
}

/*
 * With --minutes 0 only rows with results are shown. A row of the LC alone may be shared with
 * another load; it is left out if this load has no other results.
 */
static bool to_show(const struct bench *b, const struct bench_pick *p, const json_t *row)
{
	if (!b->only_looks || gs_json_at(row, "failed"))
		return true;
	if (p->scheme->alone && p->load != bench_table_alone(p->load) &&
	    !bench_result_find(&b->m.result, p->load, bench_table_scheme("default"), 0))
		return false;
	return gs_json_number(row, "blocks") > 0;
}

static bool can_measure(const struct bench *b)
{
	for (size_t i = 0; i < b->m.npicks; i++)
		if (!b->m.picks[i].absent[0])
			return true;
	return false;
}

static int report(struct bench *b)
{
	CLEANUP_JSON json_t *rows = json_array();
	struct gs_error err = {};
	int r;

	for (size_t i = 0; i < b->m.npicks; i++) {
		CLEANUP_JSON json_t *row =
			bench_result_row(&b->m.run, &b->m.result, &b->m.picks[i]);

		if (to_show(b, &b->m.picks[i], row))
			json_array_append(rows, row);
	}
	if (b->m.dir && keep(b, rows, &err))
		fprintf(stderr, "gpusched: bench: %s\n", err.text);
	r = cli_opt(b->c, "held-out") ? print_valid(b, rows) : print_rows(b, rows);
	if (r)
		return r;
	if (!can_measure(b))
		return cli_fail(-ENOTSUP, "bench: nothing of that can be measured by --gpu %s",
				bench_mode_names[b->m.run.mode]);
	return b->m.partly ? GS_EXIT_PARTLY : GS_EXIT_OK;
}

/* ---- the place where it is measured ---------------------------------------------------------- */

/* Replaces this process by the same command in `gpusched sim shell`, with a simulated GPU. */
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
	snprintf(gpus, sizeof(gpus), "%u", b->m.run.gpus);
	argv[n++] = "--gpus";
	argv[n++] = gpus;
	if (b->m.run.params) {
		argv[n++] = "--params";
		argv[n++] = b->m.run.params;
	}
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

/* Prepares to measure in the chosen mode. Returns the exit code if that failed. */
static int begin(struct bench *b, struct gs_error *err)
{
	char missing[512];
	int r;

	if (b->only_looks)
		return 0;
	if (b->m.run.mode == BENCH_SIM) {
		r = bench_model_name(&b->m.run, b->m.run.gpu, sizeof(b->m.run.gpu), err);
		snprintf(b->m.run.machine, sizeof(b->m.run.machine), "model%s%s",
			 b->m.run.params ? " " : "", b->m.run.params ? b->m.run.gpu : "");
		return r ? cli_fail_err(r, err, "bench") : 0;
	}
	if (b->m.run.mode == BENCH_PATH) {
		gs_probe_host_sim_missing(missing, sizeof(missing));
		if (missing[0])
			return cli_fail(-ENOTSUP, "bench: --gpu path: %s", missing);
		if (!gs_env()->sim)
			return enter_sim(b);
	} else {
		r = gs_probe_host_need_gpu("bench", err);
		if (r)
			return cli_fail_err(r, err, "bench");
	}
	cli_command_catch_stop();
	b->m.run.stop = &cli_stopped;
	r = bench_path_begin(&b->m.run, err);
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
	if (!r)
		r = add_loads(cli_opt(c, "load"), &err);
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
	tell_left_out(&b);
	r = bench_measure_open_raw(&b.m, &err);
	if (!r && !b.only_looks)
		r = bench_measure(&b.m, &err);
	if (r == -EINTR) { /* after an interrupt, show what was measured until then */
		b.m.partly = true;
		r = 0;
	}
	if (r)
		return cli_fail(r, "bench: %s", err.text);
	return report(&b);
}
