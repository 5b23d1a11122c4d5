// SPDX-License-Identifier: MIT
/*
 * status - is all well? What the GPUs did in the last ten seconds, as the daemon has them, or between
 * two looks.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <time.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/parse.h"
#include "basic/say.h"
#include "basic/term.h"
#include "cli/cli.h"
#include "lib/look.h"
#include "gpusched/gpusched.h"

#define LOST_LIMIT_PCT 10 /* of a GPU's time in switches: more is waste */
#define SHARE_LIMIT_PCT 1 /* a program that waits and gets less is starved */
#define WINDOW_US 1000000 /* where the daemon has no look of its own */
#define ROWS_MAX 5        /* of all GPUs together: the others are summed up */
#define MOSTLY_PCT 90     /* of a program's turns */
#define CALM_SPAN_S 86400
#define SAID_S 60  /* a policy's last word that is older is for 'policy get' to tell */
#define CALM_MAX 8 /* LC processes that are compared */

/* ---- what is wrong --------------------------------------------------------------------------- */

static void wrong(json_t *list, const char *remedy, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void wrong(json_t *list, const char *remedy, const char *format, ...)
{
	char text[400];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	json_array_append_new(list,
			      json_pack("{s:o, s:s}", "what", gs_json_text(text), "do", remedy));
}

static void judge_tsg(const json_t *t, json_t *list)
{
	const char *comm = json_string_value(json_object_get(t, "comm"));
	long long pid = json_integer_value(json_object_get(t, "pid"));
	const json_t *held = gs_json_at(t, "held_pct");

	if (held && json_is_true(json_object_get(t, "waiting")) &&
	    json_number_value(held) < SHARE_LIMIT_PCT && !gs_json_at(t, "suspended_by"))
		wrong(list, "give it a longer slice, or the others shorter ones",
		      "process %lld (%s) waits for the GPU and gets %.1f %% of it", pid,
		      comm ? comm : "-", json_number_value(held));
}

/* Is this service harmed now? By what it waits against its own calm minutes. */
static void judge_lc(const json_t *t, const char *policy, json_t *list)
{
	const json_t *share = gs_json_at(t, "wait_share_pct"),
		     *calm = gs_json_at(t, "calm_wait_pct");
	const char *comm = json_string_value(json_object_get(t, "comm"));

	if (!share || !calm || !lib_is_harmed(json_number_value(share), json_number_value(calm)))
		return;
	wrong(list,
	      policy ? "shorter slices for class be, or suspend what is beside it ('gpusched list')"
		     : "start a policy: gpusched policy start auto",
	      "process %lld (%s) of class lc waits %.0f %% of its time for the GPU; in its calm "
	      "minutes %.0f %%",
	      (long long)json_integer_value(json_object_get(t, "pid")), comm ? comm : "-",
	      json_number_value(share), json_number_value(calm));
}

/* By the last ten seconds, or by the last one or two: a person should not have to wait for the mean. */
static void judge_lost(const json_t *g, json_t *list)
{
	bool lately = gs_json_number(g, "lately.lost_pct") > gs_json_number(g, "lost_pct");
	const json_t *of = lately ? json_object_get(g, "lately") : g;

	if (gs_json_number(of, "lost_pct") <= LOST_LIMIT_PCT)
		return;
	wrong(list,
	      "start both by 'gpusched run --share', so that they need no switches ('gpusched "
	      "advise' says whether that fits); until then longer slices for class be (gpusched "
	      "set class:be timeslice=2ms)",
	      "GPU %lld loses %.0f %% of its time in %.0f switches a second: some program launches "
	      "kernel by kernel beside short slices",
	      (long long)json_integer_value(json_object_get(g, "gpu")),
	      gs_json_number(of, "lost_pct"), gs_json_number(of, "switches_per_s"));
}

static void judge_gpu(const json_t *g, bool daemon, const char *policy, json_t *list)
{
	json_t *t;
	size_t i;

	/* without a daemon nobody reads it: that is one thing, and said already */
	if (daemon && !json_is_true(json_object_get(g, "log")) && gs_json_at(g, "reason"))
		wrong(list, "see 'gpusched doctor'; root can read it on a stock driver",
		      "GPU %lld: its log cannot be read: %s",
		      (long long)json_integer_value(json_object_get(g, "gpu")),
		      json_string_value(json_object_get(g, "reason")));
	judge_lost(g, list);
	json_array_foreach(json_object_get(g, "tsgs"), i, t) {
		judge_tsg(t, list);
		judge_lc(t, policy, list);
	}
}

static void judge(const struct lib_look *a, const struct lib_look *b, const json_t *gpus,
		  json_t *list)
{
	static const struct {
		const char *path, *what, *remedy;
	} counters[] = {
		{ "engine.stuck", "calls to the driver do not return", "see 'gpusched stats'" },
		{ "engine.gave_up", "changes were given up after calls failed",
		  "see 'gpusched list' and the log" },
		{ "account.log_lost", "records of the GPU's log were lost",
		  "figures around them are unknown" },
		{ "taps.table_full", "the table of TSGs is full", "see 'gpusched list --all'" },
	};
	bool daemon = json_is_true(json_object_get(b->stats, "daemon"));
	json_t *g;
	size_t i;

	if (!daemon)
		wrong(list, cli_start_daemon(), "no daemon runs: nobody watches the GPUs");
	json_array_foreach(gpus, i, g)
		judge_gpu(g, daemon, json_string_value(json_object_get(b->stats, "policy")), list);
	for (i = 0; i < GS_COUNT(counters); i++)
		if (gs_json_number(b->stats, counters[i].path) >
		    gs_json_number(a->stats, counters[i].path))
			wrong(list, counters[i].remedy, "%s", counters[i].what);
}

/* ---- calm minutes ---------------------------------------------------------------------------- */

/* From the history, of LC processes whose waiting is known; null: nobody knows. */
static json_t *calm_of(struct gpusched *g, json_int_t pid)
{
	CLEANUP_JSON json_t *answer = NULL, *args = NULL;
	json_t *row, *calm = NULL;
	char target[32];
	size_t i;

	snprintf(target, sizeof(target), "pid:%lld", (long long)pid);
	args = json_pack("{s:s, s:s, s:b, s:I}", "target", target, "by", "process", "calm", 1,
			 "since_s", (json_int_t)time(NULL) - CALM_SPAN_S);
	if (cli_try(g, "history", args, &answer))
		return json_null();
	json_array_foreach(json_object_get(answer, "rows"), i, row)
		if (json_is_null(json_object_get(
			    row, "ended_s"))) /* its number may have been another's */
			calm = json_object_get(row, "calm_wait_pct");
	return calm ? json_incref(calm) : json_null();
}

static void put_calm(struct gpusched *g, json_t *gpus)
{
	int asked = 0;
	json_t *gpu, *t;
	size_t i, j;

	json_array_foreach(gpus, i, gpu)
		json_array_foreach(json_object_get(gpu, "tsgs"), j, t) {
			const char *class = json_string_value(json_object_get(t, "class"));
			bool ask = class && !strcmp(class, "lc") &&
				   gs_json_at(t, "wait_share_pct") && asked++ < CALM_MAX;

			json_object_set_new(
				t, "calm_wait_pct",
				ask ? calm_of(g, json_integer_value(json_object_get(t, "pid")))
				    : json_null());
		}
}

/* ---- printing -------------------------------------------------------------------------------- */

/*
 * "62 (12)": of its time on the GPU or waiting for it; in its calm minutes. "62+": at least. Waits
 * after turns that drained are known in part only, by the launches that were seen.
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

/* ", slice 1 us": one that its owner did not ask for. */
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

/* Who waits first, then who holds most. */
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

/* Ten lines are what a person reads. */
static void print_tsgs(const struct cli *c, const json_t *tsgs, size_t most)
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
		{ "waiting", "NOW", .cell = state },
	};
	CLEANUP_JSON json_t *shown = json_array();
	size_t n = json_array_size(tsgs), waiting = 0;
	double held = 0;

	for (size_t i = 0; i < n; i++) {
		json_t *t = json_array_get(tsgs, i);

		if (i < most) {
			json_array_append(shown, t);
			continue;
		}
		held += gs_json_number(t, "held_pct");
		waiting += json_is_true(json_object_get(t, "waiting"));
	}
	cli_print_rows(c, columns, GS_COUNT(columns), shown);
	if (n > most)
		printf("%zu more held %.1f %%, %zu of them wait: 'gpusched list'\n", n - most, held,
		       waiting);
}

static void print_gpu(const struct cli *c, const json_t *g, const char *policy, size_t most)
{
	const json_t *held = gs_json_at(g, "held_pct"), *reason = gs_json_at(g, "reason");
	json_t *tsgs = json_object_get(g, "tsgs");

	printf("GPU %lld, %s%s: ", (long long)json_integer_value(json_object_get(g, "gpu")),
	       policy ? "policy " : "no policy", policy ? policy : "");
	if (held)
		printf("held %.0f %%, lost in switches %.0f %%, open %.0f %%, %.0f switches/s\n",
		       json_number_value(held), gs_json_number(g, "lost_pct"),
		       gs_json_number(g, "open_pct"), gs_json_number(g, "switches_per_s"));
	else
		puts(!json_array_size(tsgs) ? "no program uses it"
		     : reason               ? json_string_value(reason)
					    : "one program or none has work: no switches are seen");
	if (json_array_size(tsgs))
		print_tsgs(c, tsgs, most);
}

/* Others' programs, whose times this user may not see. */
static bool others_are_hidden(const json_t *gpus)
{
	json_t *g, *t;
	size_t i, k;

	json_array_foreach((json_t *)gpus, i, g)
		json_array_foreach(json_object_get(g, "tsgs"), k, t) {
			const json_t *uid = gs_json_at(t, "uid");

			if (geteuid() && uid && json_integer_value(uid) != geteuid() &&
			    gs_json_at(g, "held_pct") && !gs_json_at(t, "held_pct"))
				return true;
		}
	return false;
}

/* Somebody has said what the programs are, and nobody acts on it. */
static bool classes_are_idle(const json_t *gpus, const char *policy)
{
	json_t *g, *t;
	size_t i, k;

	if (policy)
		return false;
	json_array_foreach((json_t *)gpus, i, g)
		json_array_foreach(json_object_get(g, "tsgs"), k, t) {
			const char *class = json_string_value(json_object_get(t, "class"));

			if (class && !strcmp(class, "lc"))
				return true;
		}
	return false;
}

/* Programs that nobody gave a class: does the policy act on them? */
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

/* Compute TSGs in MIG partitions. */
static size_t in_partitions(const json_t *tsgs)
{
	size_t n = 0, i;
	json_t *t;

	json_array_foreach((json_t *)tsgs, i, t) {
		const char *kind = json_string_value(json_object_get(t, "kind"));

		n += json_is_true(json_object_get(t, "mig")) && kind && !strcmp(kind, "compute");
	}
	return n;
}

static void print_said(const json_t *o)
{
	CLEANUP_FREE char *said = cli_policy_said(o, SAID_S), *text = NULL;

	if (said &&
	    asprintf(&text, "%s, %s", json_string_value(json_object_get(o, "policy")), said) > 0)
		gs_wrap(stdout, text, 0, CLI_WIDTH);
}

static void print_status(const struct cli *c, const json_t *o)
{
	const char *policy = json_string_value(json_object_get(o, "policy"));
	json_t *gpus = json_object_get(o, "gpus"), *x;
	long long apart = json_integer_value(json_object_get(o, "mig_tsgs"));
	size_t most = ROWS_MAX / (json_array_size(gpus) ? json_array_size(gpus) : 1), i;

	json_array_foreach(gpus, i, x)
		print_gpu(c, x, policy, most ? most : 1);
	if (others_are_hidden(gpus))
		puts("(times of other users' programs are root's to see)");
	print_no_class(gpus, policy);
	if (policy && apart)
		printf("policy %s leaves %lld TSGs of MIG partitions alone\n", policy, apart);
	print_said(o);
	if (classes_are_idle(gpus, policy))
		puts("class lc has no effect without a policy: 'gpusched policy start auto'");
	json_array_foreach(json_object_get(o, "wrong"), i, x)
		printf("wrong: %s\n   do: %s\n", json_string_value(json_object_get(x, "what")),
		       json_string_value(json_object_get(x, "do")));
	if (!json_array_size(json_object_get(o, "wrong")))
		puts("nothing is wrong");
}

/* ---- the verb -------------------------------------------------------------------------------- */

/*
 * Both looks; *inout_us: what lies between them, of a second where nobody asks for another time.
 * Without programs the first says all that the second would.
 */
static int look_twice(struct gpusched *g, bool given, uint64_t *inout_us, struct lib_look *a,
		      struct lib_look *b)
{
	uint64_t ms;
	int r = cli_look(g, b);

	if (r)
		return r;
	ms = given ? 0 : lib_look_ago(b, a);
	if (ms) {
		*inout_us = ms * 1000;
		return 0;
	}
	if (!given && !json_array_size(b->tsgs)) {
		*a = (struct lib_look){ json_incref(b->stats), json_incref(b->tsgs) };
		*inout_us = 0;
		return 0;
	}
	*a = *b;
	*b = (struct lib_look){ 0 };
	gs_sleep_ns(*inout_us * NS_PER_US);
	return cli_look(g, b);
}

static json_t *said_by_policy(struct gpusched *g)
{
	CLEANUP_JSON json_t *answer = NULL;
	const json_t *said;

	if (cli_try(g, "policy_get", NULL, &answer))
		return json_null();
	said = gs_json_at(answer, "running.said");
	return said ? json_incref((json_t *)said) : json_null();
}

int cli_status(struct cli *c)
{
	CLEANUP(lib_look_free) struct lib_look a = { 0 }, b = { 0 };
	CLEANUP_GPUSCHED struct gpusched *g = NULL;
	CLEANUP_JSON json_t *o = json_object();
	json_t *gpus, *list = json_array(), *gpu;
	uint64_t window_us = WINDOW_US;
	struct gs_error err = { 0 };
	size_t i;
	int r = 0;

	json_object_set_new(o, "ok", json_false());
	json_object_set_new(o, "wrong", list);
	if (cli_opt(c, "for"))
		r = gs_parse_us(cli_opt(c, "for"), 100000, 3600000000ull, &window_us, &err);
	if (r)
		return cli_fail(r, "status: --for: %s", err.text);
	r = cli_open(GPUSCHED_OPEN_READ_ONLY, &g);
	if (!r)
		r = look_twice(g, cli_opt(c, "for"), &window_us, &a, &b);
	if (r)
		return gs_exit_of(r);
	gpus = lib_look_gpus(&a, &b);
	json_object_set_new(o, "gpus", gpus);
	put_calm(g, gpus);
	json_array_foreach(gpus, i, gpu)
		sort(json_object_get(gpu, "tsgs"));
	judge(&a, &b, gpus, list);
	json_object_set(o, "policy", json_object_get(b.stats, "policy"));
	json_object_set_new(o, "mig_tsgs", json_integer((json_int_t)in_partitions(b.tsgs)));
	json_object_set_new(o, "said", said_by_policy(g));
	json_object_set_new(o, "window_ms", json_integer((json_int_t)(window_us / 1000)));
	json_object_set_new(o, "ok", json_boolean(!json_array_size(list)));
	if (c->json)
		r = gs_json_line(stdout, o);
	else
		print_status(c, o);
	return r ? gs_exit_of(r) : json_array_size(list) ? GS_EXIT_WRONG : GS_EXIT_OK;
}
