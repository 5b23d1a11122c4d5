// SPDX-License-Identifier: MIT
/* status.c - prints the daemon's verdict: whether all is well */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/parse.h"
#include "basic/say.h"
#include "basic/term.h"
#include "basic/units.h"
#include "cli/cli.h"
#include "cli/detail.h"
#include "cli/verbs_look.h"
#include "local/local.h"
#include "gpusched/gpusched.h"
#include "top/cell.h"

#define ROWS_MAX 5 /* rows for all GPUs together; further TSGs are summed up */
#define LONG_S 600 /* times of this many seconds or more are shown in minutes */
#define SAID_S 60  /* an older log line of a policy is shown by 'policy get' only */
#define FINDING_WIDTH 100
#define USED_KEY "used_pct" /* a member of a table's rows */
#define USED_HEAD "USED"

/* ---- printing -------------------------------------------------------------------------------- */

static char *percent(const json_t *row, const char *key)
{
	const json_t *v = gs_json_at(row, key);
	char buf[GS_UNITS_TEXT];

	return v ? strdup(gs_units_percent(json_number_value(v), buf)) : NULL;
}

static char *used(const json_t *row)
{
	return percent(row, USED_KEY);
}

static char *had(const json_t *row)
{
	return percent(row, "held_pct");
}

/*
 * Shows "> 62 %" where waits after drained turns are known only from launches that were
 * counted.
 */
static char *waited(const json_t *row)
{
	char buf[GS_UNITS_TEXT], *text = NULL;

	if (gs_cell_waited(row) < 0)
		return NULL;
	gs_units_percent(gs_cell_waited(row), buf);
	return asprintf(&text, "%s%s", gs_cell_waited_more(row) ? "> " : "", buf) < 0 ? NULL : text;
}

static char *share(const json_t *row)
{
	return percent(row, "wait_share_pct");
}

static char *usually(const json_t *row)
{
	return percent(row, "calm_wait_pct");
}

static char *ended(const json_t *row)
{
	return percent(row, "slice_ended_pct");
}

static char *works(const json_t *row)
{
	return percent(row, "work_estimated_pct");
}

static char *time_of(const json_t *row, const char *key)
{
	const json_t *us = gs_json_at(row, key);
	char buf[GS_UNITS_TEXT];

	return us ? strdup(gs_units_time(json_number_value(us) * (double)NS_PER_US, buf)) : NULL;
}

static char *turn(const json_t *row)
{
	return time_of(row, "mean_turn_us");
}

static char *slice(const json_t *row)
{
	return time_of(row, "timeslice_us");
}

static char *memory(const json_t *row)
{
	const json_t *bytes = gs_json_at(row, "memory_bytes");
	char buf[GS_UNITS_TEXT];

	return bytes ? strdup(gs_units_bytes(json_number_value(bytes), buf)) : NULL;
}

static char *state(const json_t *row)
{
	return json_is_true(json_object_get(row, "ended")) ? NULL : gs_cell_state(row, NULL);
}

/* Order: TSGs that wait come first, then those with more held time. */
static int compare(const void *a, const void *b)
{
	const json_t *x = *(const json_t *const *)a, *y = *(const json_t *const *)b;
	int wait = json_is_true(json_object_get(y, "waiting")) -
		   json_is_true(json_object_get(x, "waiting"));
	double dx = gs_json_number(x, "held_pct"), dy = gs_json_number(y, "held_pct");

	return wait ? wait : (dx < dy) - (dx > dy);
}

static void sort(json_t *tsgs)
{
	size_t n = json_array_size(tsgs);
	CLEANUP_FREE json_t **all = calloc(n ? n : 1, sizeof(json_t *));

	if (!all)
		return;
	for (size_t i = 0; i < n; i++)
		all[i] = json_incref(json_array_get(tsgs, i));
	qsort(all, n, sizeof(json_t *), compare);
	json_array_clear(tsgs);
	for (size_t i = 0; i < n; i++)
		json_array_append_new(tsgs, all[i]);
}

static bool is_lc(const json_t *tsg)
{
	const char *class = json_string_value(json_object_get(tsg, "class"));

	return class && !strcmp(class, "lc");
}

/* Returns how many TSGs of other classes fit into @most rows next to all TSGs of class lc. */
static size_t room_beside_lc(const json_t *tsgs, size_t most)
{
	size_t lc = 0, i;
	json_t *t;

	json_array_foreach((json_t *)tsgs, i, t)
		lc += is_lc(t);
	return most > lc ? most - lc : 0;
}

static void put_used(json_t *rows)
{
	json_t *row;
	size_t i;

	json_array_foreach(rows, i, row)
		if (gs_cell_used(row) >= 0)
			json_object_set_new(row, USED_KEY, json_real(gs_cell_used(row)));
}

/* ---- the table ------------------------------------------------------------------------------- */

#define RARE (GS_COL_WIDE | GS_COL_SAYS)

static const struct gs_column columns[] = {
	{ "pid", "PID", GS_COL_RIGHT },
	{ "uid", "USER", GS_COL_WIDE, .cell = cli_screen_user, .most = 24 },
	{ "comm", "NAME", .cell = gs_cell_name, .most = 36 },
	{ "class", "CLASS", .most = 16 },
	{ USED_KEY, USED_HEAD, GS_COL_RIGHT, .cell = used },
	{ "held_pct", "HAD GPU", GS_COL_RIGHT | GS_COL_WIDE, .cell = had },
	{ "waited_pct", "WAITED", GS_COL_RIGHT, .cell = waited },
	{ "wait_share_pct", "OF ITS TIME", GS_COL_RIGHT | GS_COL_WIDE, .cell = share, .spare = 6 },
	{ "calm_wait_pct", "USUALLY", GS_COL_RIGHT | RARE, .cell = usually, .spare = 5 },
	{ "work_estimated_pct", "ALONE WORKS", GS_COL_RIGHT | RARE, .cell = works, .spare = 7 },
	{ "turns_per_s", "TURNS/S", GS_COL_TENTHS | GS_COL_WIDE, .spare = 4 },
	{ "mean_turn_us", "TURN", GS_COL_RIGHT | GS_COL_WIDE, .cell = turn, .spare = 3 },
	{ "slice_ended_pct", "WHOLE SLICES", GS_COL_RIGHT | GS_COL_WIDE, .cell = ended,
	  .spare = 8 },
	{ "timeslice_us", "SLICE", GS_COL_RIGHT | GS_COL_WIDE, .cell = slice, .spare = 2 },
	{ "memory_bytes", "MEMORY", GS_COL_RIGHT | GS_COL_SAYS, .cell = memory, .spare = 1 },
	{ NULL, "STATE", .cell = state, .name = "state" },
};

void cli_screen_of_status(json_t *names)
{
	cli_screen_names(names, columns, GS_COUNT(columns));
}

/* Prints programs: at most @most rows, since a person reads some ten lines, but all services. */
static int print_tsgs(const struct cli *c, const json_t *tsgs, const json_t *ended_rows,
		      size_t most, bool samples)
{
	bool all = cli_opt(c, "all") || cli_opt(c, "wide");
	CLEANUP_JSON json_t *rows =
		cli_opt(c, "wide") ? json_deep_copy(tsgs) : gs_cell_processes(tsgs);
	CLEANUP_JSON json_t *shown = json_array();
	struct gs_column cols[GS_COUNT(columns)];
	size_t n = json_array_size(rows), room = all ? n : room_beside_lc(rows, most), waiting = 0;
	double more = 0;
	char buf[GS_UNITS_TEXT];
	int r;

	gs_cell_put_order(rows);
	put_used(rows);
	for (size_t i = 0; i < n; i++) {
		json_t *t = json_array_get(rows, i);

		if (is_lc(t) || room) {
			room -= !is_lc(t) && room;
			json_array_append(shown, t);
			continue;
		}
		more += gs_json_number(t, USED_KEY);
		waiting += json_is_true(json_object_get(t, "waiting"));
	}
	n -= json_array_size(shown);
	cli_detail_add_ended(shown, ended_rows, true);
	memcpy(cols, columns, sizeof(cols));
	for (size_t i = 0; i < GS_COUNT(cols) && !samples; i++)
		if (cols[i].head && !strcmp(cols[i].head, USED_HEAD))
			cols[i].head = "HAD GPU";
	r = cli_screen_table(c, cols, GS_COUNT(cols), shown);
	if (n && !r)
		cli_screen_note(c, "%zu more %s %s, %zu of them wait: 'gpusched status --all'", n,
				samples ? "used" : "had the GPU", gs_units_percent(more, buf),
				waiting);
	return r;
}

/* Says how much of the GPU's memory is used: "; memory 41 of 142 GiB". */
static void put_memory(FILE *f, const json_t *g)
{
	const json_t *m = json_object_get(g, "memory");
	char in_use[GS_UNITS_TEXT], all[GS_UNITS_TEXT], *unit;

	if (!gs_json_at(m, "used_bytes"))
		return;
	gs_units_bytes(gs_json_number(m, "used_bytes"), in_use);
	gs_units_bytes(gs_json_number(m, "total_bytes"), all);
	unit = strrchr(in_use, ' ');
	if (unit && strrchr(all, ' ') && !strcmp(unit, strrchr(all, ' ')))
		*unit = '\0'; /* once for both */
	fprintf(f, "; memory %s of %s", in_use, all);
}

/* Says how the GPU's time was spent, or why that is not known. */
static void put_time(FILE *f, const struct cli *c, const json_t *g)
{
	const json_t *held = gs_json_at(g, "held_pct"), *reason = gs_json_at(g, "reason");
	double idle = gs_json_number(g, "idle_pct"); /* a TSG was loaded, and nobody worked */
	char in_use[GS_UNITS_TEXT], switching[GS_UNITS_TEXT], rest[GS_UNITS_TEXT];

	if (held)
		fprintf(f, "%s %s, switching %s, free %s",
			gs_json_at(g, "idle_pct") ? "used" : "programs had it",
			gs_units_percent(json_number_value(held) - idle, in_use),
			gs_units_percent(gs_json_number(g, "lost_pct"), switching),
			gs_units_percent(gs_json_number(g, "open_pct") + idle, rest));
	else
		fputs(!json_array_size(json_object_get(g, "tsgs")) ? "no program uses it"
		      : reason                                     ? json_string_value(reason)
			       : "one program or none has work: no switches are seen",
		      f);
	if (held && cli_opt(c, "wide"))
		fprintf(f, ", %.0f switches/s", gs_json_number(g, "switches_per_s"));
}

static int print_gpu(const struct cli *c, const json_t *g, const char *policy, size_t most)
{
	const json_t *ended_rows = json_object_get(g, "ended");
	json_t *tsgs = json_object_get(g, "tsgs");
	CLEANUP_FREE char *text = NULL, *span = gs_cell_span(g);
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return cli_fail(-ENOMEM, "out of memory");
	fprintf(f, "GPU %lld, %s%s%s%s: ", (long long)json_integer_value(json_object_get(g, "gpu")),
		policy ? "policy " : "no policy", policy ? policy : "", span ? ", " : "",
		span ? span : "");
	put_time(f, c, g);
	put_memory(f, g);
	if (fclose(f))
		return cli_fail(-ENOMEM, "out of memory");
	cli_screen_note(c, "%s", text);
	if (json_array_size(tsgs) || json_array_size(ended_rows))
		return print_tsgs(c, tsgs, ended_rows, most, gs_cell_has_samples(g));
	return GS_EXIT_OK;
}

/* True if the times of other users' programs are hidden from this user. */
static bool others_are_hidden(const json_t *gpus)
{
	json_t *g, *t;
	size_t i, k;

	json_array_foreach((json_t *)gpus, i, g)
		json_array_foreach(json_object_get(g, "tsgs"), k, t)
			if (json_is_true(json_object_get(t, "hidden")) && gs_json_at(g, "held_pct"))
				return true;
	return false;
}

/* Says whether the policy acts on programs without a class, if there are any. */
static void print_no_class(const struct cli *c, const json_t *gpus, const char *policy)
{
	size_t all = 0, without = 0, acts = 0, i, k;
	json_t *g, *t;

	json_array_foreach((json_t *)gpus, i, g)
		json_array_foreach(json_object_get(g, "tsgs"), k, t) {
			bool none = !gs_json_at(t, "class") && gs_json_at(t, "policy_acts");

			all++;
			without += none;
			acts += none && json_is_true(gs_json_at(t, "policy_acts"));
		}
	if (!policy || all < 2 || !without)
		return;
	if (acts)
		cli_screen_note(c, "policy %s acts on %zu of the %zu programs without a class",
				policy, acts, without);
	else
		cli_screen_note(c,
				"policy %s acts on none of the %zu programs without a class: "
				"'gpusched advise'",
				policy, without);
}

/* Prints "MANY_TURNS" as "many turns". */
static void put_words(FILE *f, const char *name)
{
	for (; *name; name++)
		fputc(*name == '_' ? ' ' : tolower(*name), f);
}

bool cli_status_is_untold(const json_t *says)
{
	const char *why = json_string_value(json_object_get(says, "not_held"));

	return why && !strcmp(why, "REQUESTS_NOT_TOLD");
}

/* Prints one line with the policy's report on a TSG, if there is one. */
static void print_says(const json_t *tsg, const char *policy)
{
	const json_t *says = json_object_get(tsg, "policy_says");
	CLEANUP_FREE char *text = NULL;
	size_t size, n = 0;
	FILE *f = open_memstream(&text, &size);
	const char *key;
	json_t *v;

	if (!f)
		return;
	fprintf(f, "policy %s of tsg %lld (%s): ", policy,
		(long long)json_integer_value(json_object_get(tsg, "id")),
		json_string_value(json_object_get(tsg, "comm")) ?: "-");
	json_object_foreach((json_t *)says, key, v) {
		if (json_is_null(v))
			continue;
		fputs(n++ ? ", " : "", f);
		put_words(f, strcmp(key, "not_held") ? key : "not_paused");
		fputc(' ', f);
		if (json_is_string(v))
			put_words(f, json_string_value(v));
		else
			fprintf(f, "%lld", (long long)json_integer_value(v));
	}
	if (n && json_is_string(json_object_get(tsg, "requests_by")))
		fprintf(f, ", requests reported by its %s",
			json_string_value(json_object_get(tsg, "requests_by")));
	if (!fclose(f) && n)
		gs_term_wrap(stdout, text, 0, FINDING_WIDTH);
}

/* Prints "BEFORE: TEXT", its further lines below TEXT. */
static void print_wrapped(const char *before, const char *text, const char *after)
{
	CLEANUP_FREE char *all = NULL;
	size_t width = gs_term_width(stdout);

	printf("%s: ", before);
	if (asprintf(&all, "%s%s", text, after) >= 0)
		gs_term_wrap(stdout, all, strlen(before) + 2,
			     width && width < FINDING_WIDTH ? width : FINDING_WIDTH);
}

/* Says what it means for a service that its requests are not seen, and what helps. */
static void print_untold(const json_t *tsg)
{
	CLEANUP_FREE char *text = NULL;

	/* an agent that has seen no request yet is there all the same */
	if (!cli_status_is_untold(json_object_get(tsg, "policy_says")) ||
	    json_is_string(json_object_get(tsg, "requests_by")))
		return;
	if (asprintf(&text, "nobody is paused for requests of process %lld (%s): they are not seen",
		     (long long)json_integer_value(json_object_get(tsg, "pid")),
		     json_string_value(json_object_get(tsg, "comm")) ?: "-") < 0)
		return;
	print_wrapped("note", text, "");
	print_wrapped("   do", "start it by 'gpusched run --class lc'", "");
}

static void put_took(FILE *f, const json_t *us)
{
	double ms = (double)json_integer_value(us) / 1e3;

	if (ms < 1000)
		fprintf(f, "%.*f ms", ms < 10, ms);
	else
		fprintf(f, "%.1f s", ms / 1e3);
}

static double member_of(const json_t *o, const char *key)
{
	return (double)json_integer_value(json_object_get(o, key));
}

/* Says how many requests took longer than slo= of the class allows, and why. */
static void put_missed(FILE *f, const json_t *r)
{
	double missed = member_of(r, "slo_missed"), others = member_of(r, "slo_missed_others"),
	       itself = member_of(r, "slo_missed_itself");

	if (!json_is_integer(json_object_get(r, "slo_us")) ||
	    !json_is_integer(json_object_get(r, "slo_requests")))
		return;
	fprintf(f, "; %.0f of %.0f took longer than ", missed, member_of(r, "slo_requests"));
	put_took(f, json_object_get(r, "slo_us"));
	if (missed > 0)
		fprintf(f, ": %.0f because of others, %.0f by itself, %.0f not known why", others,
			itself, missed - others - itself);
}

/* Prints what a service's requests took, and who had the GPU meanwhile. */
static void print_requests(const json_t *tsg)
{
	const json_t *r = json_object_get(tsg, "requests");
	double itself = member_of(r, "itself_ms"), others = member_of(r, "others_ms"),
	       neither = member_of(r, "neither_ms"), unknown = member_of(r, "unknown_ms");
	double all = itself + others + neither + unknown;
	CLEANUP_FREE char *text = NULL;
	size_t size;
	FILE *f = json_is_object(r) ? open_memstream(&text, &size) : NULL;

	if (!f)
		return;
	fprintf(f, "process %lld (%s): %.0f requests, half of them within ",
		(long long)json_integer_value(json_object_get(tsg, "pid")),
		json_string_value(json_object_get(tsg, "comm")) ?: "-", member_of(r, "n"));
	put_took(f, json_object_get(r, "p50_us"));
	fputs(", 99 % within ", f);
	put_took(f, json_object_get(r, "p99_us"));
	if (all > 0)
		fprintf(f,
			"; meanwhile on the GPU: itself %.0f %%, others %.0f %%, neither %.0f %%, "
			"not known %.0f %%",
			100 * itself / all, 100 * others / all, 100 * neither / all,
			100 * unknown / all);
	put_missed(f, r);
	if (!fclose(f))
		gs_term_wrap(stdout, text, 0, FINDING_WIDTH);
}

static bool has_slo(const json_t *tsg)
{
	return json_is_integer(gs_json_at(tsg, "requests.slo_us"));
}

/* True for the first of its process's TSGs: what is true of the process is printed once. */
static bool is_first(const json_t *gpus, const json_t *tsg)
{
	json_int_t pid = json_integer_value(json_object_get(tsg, "pid"));
	size_t i, k;
	json_t *g, *t;

	json_array_foreach((json_t *)gpus, i, g)
		json_array_foreach(json_object_get(g, "tsgs"), k, t)
			if (json_integer_value(json_object_get(t, "pid")) == pid)
				return t == tsg;
	return false;
}

static void print_all_says(const struct cli *c, const json_t *gpus, const char *policy)
{
	size_t i, k;
	json_t *g, *t;

	json_array_foreach((json_t *)gpus, i, g)
		json_array_foreach(json_object_get(g, "tsgs"), k, t) {
			if (!is_lc(t) && !has_slo(t))
				continue;
			if (policy && is_lc(t) && cli_opt(c, "wide"))
				print_says(t, policy);
			if (!is_first(gpus, t))
				continue;
			if (policy && is_lc(t) && !cli_opt(c, "wide"))
				print_untold(t);
			print_requests(t);
		}
}

/* Counts compute TSGs in MIG partitions that are not known. */
static long long apart_of(const json_t *gpus)
{
	long long n = 0;
	json_t *g;
	size_t i;

	json_array_foreach((json_t *)gpus, i, g)
		n += json_integer_value(json_object_get(g, "apart_tsgs"));
	return n;
}

static void print_said(const json_t *o)
{
	CLEANUP_FREE char *said = cli_policy_said(o, SAID_S), *text = NULL;

	if (said &&
	    asprintf(&text, "%s, %s", json_string_value(json_object_get(o, "policy")), said) > 0)
		gs_term_wrap(stdout, text, 0, CLI_WIDTH);
}

static const char *text_of(const json_t *finding, const char *key)
{
	const char *text = json_string_value(json_object_get(finding, key));

	return text ? text : "";
}

/* Writes ", for 12 s" or ", for 40 min": how long the finding has held at least. */
static void since(const json_t *finding, char *ret, size_t size)
{
	json_int_t ns = json_integer_value(json_object_get(finding, "since_ns"));
	uint64_t now = gs_now_ns();

	uint64_t s = (now - (uint64_t)ns) / NS_PER_S;

	*ret = 0;
	if (ns > 0 && (uint64_t)ns < now)
		snprintf(ret, size, ", for %" PRIu64 " %s", s < LONG_S ? s : s / 60,
			 s < LONG_S ? "s" : "min");
}

size_t cli_print_status_findings(const json_t *findings, const char *level)
{
	size_t i, n = 0;
	json_t *x;

	json_array_foreach((json_t *)findings, i, x) {
		char age[40];

		if (strcmp(text_of(x, "level"), level) != 0)
			continue;
		since(x, age, sizeof(age));
		print_wrapped(!strcmp(level, "unknown") ? "not known" : level, text_of(x, "text"),
			      age);
		print_wrapped("   do", text_of(x, "do"), "");
		n++;
	}
	return n;
}

static void print_findings(const struct cli *c, const json_t *o)
{
	const json_t *findings = json_object_get(o, "findings");
	size_t wrong = cli_print_status_findings(findings, "wrong"), unknown;

	print_all_says(c, json_object_get(o, "gpus"),
		       json_string_value(json_object_get(o, "policy")));
	cli_print_status_findings(findings, "note");
	unknown = cli_print_status_findings(findings, "unknown");
	if (!wrong)
		puts(unknown ? "nothing is wrong as far as is known" : "nothing is wrong");
}

int cli_print_status(const struct cli *c, const json_t *o)
{
	const char *policy = json_string_value(json_object_get(o, "policy"));
	json_t *gpus = json_object_get(o, "gpus"), *x;
	long long apart = apart_of(gpus);
	size_t most = ROWS_MAX / (json_array_size(gpus) ? json_array_size(gpus) : 1), i;
	int r;

	json_array_foreach(gpus, i, x) {
		r = print_gpu(c, x, policy, most ? most : 1);
		if (r)
			return r;
	}
	if (others_are_hidden(gpus))
		puts("(times of other users' programs are root's to see)");
	print_no_class(c, gpus, policy);
	if (policy && apart)
		cli_screen_note(
			c, "policy %s leaves %lld programs alone: their MIG partition is not known",
			policy, apart);
	if (cli_opt(c, "wide"))
		print_said(o);
	print_findings(c, o);
	return GS_EXIT_OK;
}

/* ---- the verb -------------------------------------------------------------------------------- */

int cli_status(struct cli *c)
{
	CLEANUP_JSON json_t *o = NULL;
	struct gs_error err = { 0 };
	uint64_t for_us = 0;
	json_t *gpu;
	size_t i;
	int r = 0;

	if (cli_opt(c, "for"))
		r = gs_parse_length(cli_opt(c, "for"), 100000, 3600000000ull, &for_us, &err);
	if (r)
		return cli_fail(r, "status: --for: %s", err.text);
	r = cli_ask(GS_LOCAL_READ_ONLY, "status", json_pack("{s:I}", "for_us", (json_int_t)for_us),
		    &o);
	if (r)
		return gs_error_exit(r);
	json_array_foreach(json_object_get(o, "gpus"), i, gpu)
		sort(json_object_get(gpu, "tsgs"));
	if (!c->json) {
		r = cli_print_status(c, o);
		if (r)
			return r;
	} else {
		r = gs_json_line(stdout, o);
	}
	return r                                        ? gs_error_exit(r)
	       : json_is_true(json_object_get(o, "ok")) ? GS_EXIT_OK
							: GS_EXIT_WRONG;
}
