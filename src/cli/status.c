// SPDX-License-Identifier: MIT
/* status.c - prints the daemon's verdict: whether all is well */
#include <ctype.h>
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
#include "cli/cli.h"
#include "cli/detail.h"
#include "cli/verbs_look.h"
#include "local/local.h"
#include "gpusched/gpusched.h"

#define ROWS_MAX 5    /* rows for all GPUs together; further TSGs are summed up */
#define MOSTLY_PCT 90 /* from this percentage on, a part counts as most of a program's turns */
#define LONG_S 600    /* times of this many seconds or more are shown in minutes */
#define SAID_S 60     /* an older log line of a policy is shown by 'policy get' only */

/* ---- printing -------------------------------------------------------------------------------- */

/*
 * Shows "62 (12)": of the time that the program waited or held the GPU, it waited 62 %, but 12 % in
 * calm minutes. "62+": at least 62, since waits after drained turns are known only from launches
 * that were counted.
 */
static char *waits(const json_t *row)
{
	const json_t *share = gs_json_at(row, "wait_share_pct");
	const json_t *calm = gs_json_at(row, "calm_wait_pct");
	bool in_part = gs_json_number(row, "slice_ended_pct") < MOSTLY_PCT;
	char in_calm[24] = "", *text = NULL;

	if (!share)
		return NULL;
	if (calm)
		snprintf(in_calm, sizeof(in_calm), " (%.0f)", json_number_value(calm));
	return asprintf(&text, "%.0f%s%s", json_number_value(share), in_part ? "+" : "", in_calm) <
			       0
		       ? NULL
		       : text;
}

/* Writes "slice 1 us" after @before, if the TSG's owner asked for another slice. */
static void slice(const json_t *row, const char *before, char *ret, size_t size)
{
	double us = gs_json_number(row, "timeslice_us"),
	       asked = gs_json_number(row, "asked_timeslice_us");
	bool ms = us >= 10000;

	*ret = 0;
	if (us > 0 && asked > 0 && us != asked)
		snprintf(ret, size, "%sslice %.0f %s", before, ms ? us / 1000 : us,
			 ms ? "ms" : "us");
}

static char *state(const json_t *row)
{
	const json_t *work = gs_json_at(row, "work_estimated_pct");
	bool waiting = json_is_true(gs_json_at(row, "waiting"));
	char text[48] = "";

	if (gs_json_at(row, "suspended_by"))
		return strdup("suspended");
	if (work && !waiting)
		snprintf(text, sizeof(text), "alone: works ~%.0f %%", json_number_value(work));
	else if (waiting)
		snprintf(text, sizeof(text), "waits");
	slice(row, *text ? ", " : "", text + strlen(text), sizeof(text) - strlen(text));
	return *text ? strdup(text) : NULL;
}

/* Shows memory in GiB, since rows have only 80 columns. */
static char *memory(const json_t *row)
{
	const json_t *bytes = gs_json_at(row, "memory_bytes");
	char *text = NULL;

	if (!bytes)
		return NULL;
	return asprintf(&text, "%.1f", json_number_value(bytes) / (double)(1ull << 30)) < 0 ? NULL
											    : text;
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

/* Prints TSGs: at most @most rows, since a person reads some ten lines, but always all services. */
static void print_tsgs(const struct cli *c, const json_t *tsgs, const json_t *ended, size_t most)
{
	static const struct gs_column columns[] = {
		{ "pid", "PID", GS_COL_RIGHT },
		{ "comm", "COMM" },
		{ "class", "CLASS" },
		{ "held_pct", "HELD %", GS_COL_TENTHS },
		{ "wait_share_pct", "WAITS % (CALM)", GS_COL_RIGHT, .cell = waits },
		{ "turns_per_s", "TURNS/S", GS_COL_TENTHS },
		{ "mean_turn_us", "TURN US", GS_COL_TENTHS },
		{ "slice_ended_pct", "CUT %", GS_COL_TENTHS },
		{ "memory_bytes", "GIB", GS_COL_RIGHT, .cell = memory },
		{ "waiting", "NOW", .cell = state },
	};
	CLEANUP_JSON json_t *shown = json_array();
	size_t room = cli_opt(c, "all") ? json_array_size(tsgs) : room_beside_lc(tsgs, most);
	size_t n = json_array_size(tsgs), waiting = 0;
	double held = 0;

	for (size_t i = 0; i < n; i++) {
		json_t *t = json_array_get(tsgs, i);

		if (is_lc(t) || room) {
			room -= !is_lc(t) && room;
			json_array_append(shown, t);
			continue;
		}
		held += gs_json_number(t, "held_pct");
		waiting += json_is_true(json_object_get(t, "waiting"));
	}
	n -= json_array_size(shown);
	cli_add_ended(shown, ended, true);
	cli_print_rows(c, columns, GS_COUNT(columns), shown);
	if (n)
		printf("%zu more held %.1f %%, %zu of them wait: 'gpusched status --all'\n", n,
		       held, waiting);
}

static double gib(const json_t *memory, const char *key)
{
	return gs_json_number(memory, key) / (double)(1ull << 30);
}

/*
 * Prints the memory. Used memory that no process holds belongs to the driver, or to a process that
 * the driver does not list.
 */
static void print_memory(const json_t *g)
{
	const json_t *m = json_object_get(g, "memory");

	if (gs_json_at(m, "used_bytes"))
		printf("memory: %.1f of %.1f GiB used, %.1f free; processes hold %.1f\n",
		       gib(m, "used_bytes"), gib(m, "total_bytes"), gib(m, "free_bytes"),
		       gib(m, "held_bytes"));
}

static void print_gpu(const struct cli *c, const json_t *g, const char *policy, size_t most)
{
	const json_t *held = gs_json_at(g, "held_pct"), *reason = gs_json_at(g, "reason");
	double idle = gs_json_number(g, "idle_pct"); /* a TSG was loaded, and nobody worked */
	const json_t *ended = json_object_get(g, "ended");
	json_t *tsgs = json_object_get(g, "tsgs");

	printf("GPU %lld, %s%s: ", (long long)json_integer_value(json_object_get(g, "gpu")),
	       policy ? "policy " : "no policy", policy ? policy : "");
	if (held)
		printf("held %.0f %%, lost in switches %.0f %%, open %.0f %%, %.0f switches/s\n",
		       json_number_value(held) - idle, gs_json_number(g, "lost_pct"),
		       gs_json_number(g, "open_pct") + idle, gs_json_number(g, "switches_per_s"));
	else
		puts(!json_array_size(tsgs) ? "no program uses it"
		     : reason               ? json_string_value(reason)
					    : "one program or none has work: no switches are seen");
	print_memory(g);
	if (json_array_size(tsgs) || json_array_size(ended))
		print_tsgs(c, tsgs, ended, most);
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
static void print_no_class(const json_t *gpus, const char *policy)
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
	printf("policy %s acts on ", policy);
	if (acts)
		printf("%zu of the %zu programs without a class\n", acts, without);
	else
		printf("none of the %zu programs without a class: 'gpusched advise'\n", without);
}

/* Prints "MANY_TURNS" as "many turns". */
static void put_words(FILE *f, const char *name)
{
	for (; *name; name++)
		fputc(*name == '_' ? ' ' : tolower(*name), f);
}

bool cli_is_untold(const json_t *says)
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
		put_words(f, key);
		fputc(' ', f);
		if (json_is_string(v))
			put_words(f, json_string_value(v));
		else
			fprintf(f, "%lld", (long long)json_integer_value(v));
	}
	if (cli_is_untold(says))
		fputs(": 'gpusched run --class lc' tells of them, and so do launches that are "
		      "counted",
		      f);
	if (n && json_is_string(json_object_get(tsg, "requests_by")))
		fprintf(f, ", requests told by its %s",
			json_string_value(json_object_get(tsg, "requests_by")));
	if (!fclose(f) && n)
		gs_wrap(stdout, text, 0, CLI_WIDTH);
}

static void put_time(FILE *f, const json_t *us)
{
	double ms = (double)json_integer_value(us) / 1e3;

	if (ms < 1000)
		fprintf(f, "%.*f ms", ms < 10, ms);
	else
		fprintf(f, "%.1f s", ms / 1e3);
}

/* Prints what a service's requests took, and who had the GPU meanwhile. */
static void print_requests(const json_t *tsg)
{
	static const struct {
		const char *key, *name;
	} parts[] = { { "itself_ms", "itself" },
		      { "others_ms", "others" },
		      { "neither_ms", "neither" },
		      { "unknown_ms", "unknown" } };
	const json_t *r = json_object_get(tsg, "requests");
	CLEANUP_FREE char *text = NULL;
	double all = 0;
	size_t size;
	FILE *f = json_is_object(r) ? open_memstream(&text, &size) : NULL;

	if (!f)
		return;
	for (size_t i = 0; i < GS_COUNT(parts); i++)
		all += (double)json_integer_value(json_object_get(r, parts[i].key));
	fprintf(f, "process %lld (%s): %lld requests, p50 ",
		(long long)json_integer_value(json_object_get(tsg, "pid")),
		json_string_value(json_object_get(tsg, "comm")) ?: "-",
		(long long)json_integer_value(json_object_get(r, "n")));
	put_time(f, json_object_get(r, "p50_us"));
	fputs(", p99 ", f);
	put_time(f, json_object_get(r, "p99_us"));
	for (size_t i = 0; all > 0 && i < GS_COUNT(parts); i++) {
		double part = (double)json_integer_value(json_object_get(r, parts[i].key));

		fprintf(f, "%s%s %.0f %%", i ? ", " : "; on the GPU: ", parts[i].name,
			100 * part / all);
	}
	if (!fclose(f))
		gs_wrap(stdout, text, 0, CLI_WIDTH);
}

static void print_all_says(const json_t *gpus, const char *policy)
{
	size_t i, k;
	json_t *g, *t;

	json_array_foreach((json_t *)gpus, i, g)
		json_array_foreach(json_object_get(g, "tsgs"), k, t)
			if (is_lc(t)) {
				if (policy)
					print_says(t, policy);
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
		gs_wrap(stdout, text, 0, CLI_WIDTH);
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

size_t cli_print_findings(const json_t *findings, const char *level)
{
	size_t i, n = 0;
	json_t *x;

	json_array_foreach((json_t *)findings, i, x) {
		char age[40];

		if (strcmp(text_of(x, "level"), level) != 0)
			continue;
		since(x, age, sizeof(age));
		printf("%s: %s%s\n   do: %s\n", !strcmp(level, "unknown") ? "not known" : level,
		       text_of(x, "text"), age, text_of(x, "do"));
		n++;
	}
	return n;
}

static void print_findings(const json_t *findings)
{
	size_t wrong = cli_print_findings(findings, "wrong"), unknown;

	cli_print_findings(findings, "note");
	unknown = cli_print_findings(findings, "unknown");
	if (!wrong)
		puts(unknown ? "nothing is wrong as far as is known" : "nothing is wrong");
}

static void print_status(const struct cli *c, const json_t *o)
{
	const char *policy = json_string_value(json_object_get(o, "policy"));
	json_t *gpus = json_object_get(o, "gpus"), *x;
	long long apart = apart_of(gpus);
	size_t most = ROWS_MAX / (json_array_size(gpus) ? json_array_size(gpus) : 1), i;

	json_array_foreach(gpus, i, x)
		print_gpu(c, x, policy, most ? most : 1);
	if (others_are_hidden(gpus))
		puts("(times of other users' programs are root's to see)");
	print_no_class(gpus, policy);
	if (policy && apart)
		printf("policy %s leaves %lld TSGs alone: their MIG partition is not known\n",
		       policy, apart);
	print_all_says(gpus, policy);
	print_said(o);
	print_findings(json_object_get(o, "findings"));
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
		return gs_exit_of(r);
	json_array_foreach(json_object_get(o, "gpus"), i, gpu)
		sort(json_object_get(gpu, "tsgs"));
	if (c->json)
		r = gs_json_line(stdout, o);
	else
		print_status(c, o);
	return r                                        ? gs_exit_of(r)
	       : json_is_true(json_object_get(o, "ok")) ? GS_EXIT_OK
							: GS_EXIT_WRONG;
}
