// SPDX-License-Identifier: MIT
/* advise.c - says what each program is, what it loses to others, and which command would help */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "basic/parse.h"
#include "basic/units.h"
#include "cli/cli.h"
#include "cli/verbs_look.h"
#include "gpusched/gpusched.h"
#include "mps/control.h"

#define WINDOW_US 10000000

/* ---- what a program loses, and what helps it ----------------------------------------------- */

/* One GPU of the daemon's answer: it has judged its programs. */
struct crowd {
	const json_t *gpu, *helps; /* what helps, by the name of a kind */
	const char *policy;        /* the policy that runs; NULL: none */
	double window_ms, span_s;  /* the window by the host's clock, and by the GPU's */
	bool fits;                 /* the policy is the one that fits */
};

static const char *string_of(const json_t *o, const char *key)
{
	return json_string_value(json_object_get(o, key));
}

static bool is_true(const json_t *o, const char *key)
{
	return json_is_true(json_object_get(o, key));
}

static const json_t *help_of(const struct crowd *c, const json_t *tsg)
{
	const char *kind = string_of(tsg, "looks_like");

	return json_object_get(c->helps, kind ? kind : "");
}

static double sum_of(const json_t *t, const char *key)
{
	return gs_json_number(json_object_get(t, "sums"), key);
}

static void put(json_t *o, const char *key, double v)
{
	json_object_set_new(o, key, isfinite(v) ? json_real(round(v * 10) / 10) : json_null());
}

static void put_figures(const struct crowd *c, const json_t *t, json_t *o)
{
	bool known = c->span_s > 0 && !is_true(t, "came") && gs_json_at(t, "sums");

	/* the GPU and its programs are read at slightly different times, so cap the part */
	put(o, "held_pct", known ? fmin(100, sum_of(t, "held_ms") / 10 / c->span_s) : NAN);
	put(o, "waited_pct",
	    known && gs_json_at(t, "waited_pct") ? sum_of(t, "waited_ms") / 10 / c->span_s : NAN);
	put(o, "suspended_pct",
	    c->window_ms > 0 && gs_json_at(t, "sums.suspended_ms")
		    ? fmin(100, 100 * sum_of(t, "suspended_ms") / c->window_ms)
		    : NAN);
	put(o, "turns_per_s", known ? sum_of(t, "turns") / c->span_s : NAN);
	put(o, "launches_per_s",
	    gs_json_at(t, "launches") ? gs_json_number(t, "launches") / c->span_s : NAN);
}

static bool has_word(const json_t *words, const char *word)
{
	json_t *v;
	size_t i;

	json_array_foreach((json_t *)words, i, v)
		if (word && !strcmp(json_string_value(v), word))
			return true;
	return false;
}

/* Adds which programs take GPU time from this one, and the longest that a request waits for them. */
static void put_loss(const struct crowd *c, const json_t *t, const json_t *help, json_t *o)
{
	const json_t *kinds = json_object_get(help, "loses_to");
	json_t *to = json_array(), *other;
	double slices_us = 0;
	size_t i;

	json_array_foreach(json_object_get(c->gpu, "tsgs"), i, other) {
		if (other == t || !has_word(kinds, string_of(other, "looks_like")))
			continue;
		json_array_append(to, json_object_get(other, "pid"));
		slices_us += gs_json_number(other, "timeslice_us");
	}
	put(o, "may_wait_us", is_true(help, "by_slices") && json_array_size(to) ? slices_us : NAN);
	json_object_set_new(o, "loses_to", to);
}

#define MPS "nvidia-cuda-mps-control"

static bool has_mps(void)
{
	char path[PATH_MAX];

	gs_mps_control_program(MPS, path, sizeof(path));
	return path[0];
}

/* Root alone starts policies, raises programs, and acts on others' programs. */
static const char *sudo(bool for_root)
{
	return for_root && geteuid() ? "sudo " : "";
}

/* Lists commands that help now before those that help only at the program's next start. */
static void put_help(const struct crowd *c, const json_t *t, const json_t *help, json_t *o)
{
	const char *want = string_of(help, "class") ?: "", *is = string_of(t, "class"),
		   *run = string_of(help, "run");
	long long pid = json_integer_value(json_object_get(t, "pid"));
	bool mine = json_integer_value(json_object_get(t, "uid")) == geteuid();
	bool set = is_true(help, "set"), right = is && !strcmp(is, want);
	json_t *list = json_array();

	if (set && !right)
		json_array_append_new(list,
				      json_sprintf("%sgpusched class set pid:%lld %s",
						   sudo(!mine || !strcmp(want, "lc")), pid, want));
	if (run)
		json_array_append_new(
			list, json_sprintf("gpusched run --%s --class %s -- COMMAND # instead of "
					   "process %lld%s%s",
					   run, want, pid,
					   geteuid() && !strcmp(want, "lc")
						   ? "; root gives class lc, or AllowClass="
						   : "",
					   has_mps() ? "" : "; first install " MPS));
	if (set && right && c->fits && !run)
		help = json_object_get(c->gpu, "no_help");
	json_object_set(o, "means", json_object_get(help, "means"));
	json_object_set(o, "text", json_object_get(help, "text"));
	json_object_set_new(o, "do", list);
}

static void add_program(const struct crowd *c, const json_t *t, json_t *programs)
{
	static const char *const keys[][2] = {
		{ "pid", "pid" },
		{ "uid", "uid" },
		{ "comm", "comm" },
		{ "class", "class" },
		{ "looks_like", "kind" },
		{ "looks_like_why", "why" },
		{ "timeslice_us", "timeslice_us" },
		{ "requests_by", "requests_by" },
	};
	const json_t *help = help_of(c, t);
	json_t *o = json_object();

	json_object_set(o, "gpu", json_object_get(c->gpu, "gpu"));
	for (size_t i = 0; i < GS_COUNT(keys); i++)
		json_object_set(o, keys[i][1], json_object_get(t, keys[i][0]) ?: json_null());
	put_figures(c, t, o);
	json_object_set_new(o, "judged", json_boolean(is_true(help, "judged")));
	json_object_set_new(o, "untold",
			    json_boolean(cli_status_is_untold(json_object_get(t, "policy_says"))));
	put_loss(c, t, help, o);
	put_help(c, t, help, o);
	json_array_append_new(programs, o);
}

static void add_gpu(const struct crowd *c, json_t *gpus)
{
	const char *wanted = string_of(c->gpu, "policy_wanted");
	json_t *o =
		json_pack("{s:O, s:s?, s:O, s:O, s:O, s:[]}", "gpu", json_object_get(c->gpu, "gpu"),
			  "policy", c->policy, "reason", json_object_get(c->gpu, "reason"),
			  "lost_pct", json_object_get(c->gpu, "lost_pct"), "choice",
			  json_object_get(c->gpu, "choice"), "do");

	if (wanted && !c->fits)
		json_array_append_new(
			json_object_get(o, "do"),
			json_sprintf("%sgpusched policy start %s", sudo(true), wanted));
	json_array_append_new(gpus, o);
}

static void take_gpu(const json_t *status, const json_t *gpu, json_t *ret)
{
	const char *wanted = string_of(gpu, "policy_wanted");
	struct crowd c = {
		.gpu = gpu,
		.helps = json_object_get(gpu, "helps"),
		.policy = string_of(status, "policy"),
		.window_ms = gs_json_number(status, "window_ms"),
		.span_s = gs_json_number(gpu, "span_ms") / 1e3,
	};
	json_t *t;
	size_t i;

	c.fits = wanted && c.policy && !strcmp(wanted, c.policy);
	json_array_foreach(json_object_get(gpu, "tsgs"), i, t)
		add_program(&c, t, json_object_get(ret, "programs"));
	add_gpu(&c, json_object_get(ret, "gpus"));
}

/* ---- what is remembered ---------------------------------------------------------------------- */

static json_t *program_of(const json_t *remembered, json_int_t pid)
{
	json_t *p, *v;
	size_t i, k;

	json_array_foreach((json_t *)remembered, i, p)
		json_array_foreach(json_object_get(p, "pids"), k, v)
			if (json_integer_value(v) == pid)
				return p;
	return NULL;
}

/* Adds to each program how `run --means auto` would start it next time; null: not remembered. */
static void add_remembered(json_t *programs)
{
	CLEANUP_JSON json_t *answer = NULL;
	CLEANUP_GPUSCHED struct gpusched *g = NULL;
	const json_t *all;
	json_t *o, *p;
	size_t i;

	if (cli_client_open(0, &g) || cli_client_try(g, "means_get", NULL, &answer))
		return;
	all = json_object_get(answer, "programs");
	json_array_foreach(programs, i, o) {
		p = program_of(all, json_integer_value(json_object_get(o, "pid")));
		json_object_set_new(o, "next_start", p ? json_incref(p) : json_null());
	}
}

/* Prints for example "171 us by slices, 63 us by share". */
static void print_waits(const json_t *waits)
{
	const char *name, *before = ": a request waits up to ";
	json_t *v;

	json_object_foreach((json_t *)waits, name, v) {
		if (!json_is_integer(v))
			continue;
		printf("%s%lld us by %s", before, (long long)json_integer_value(v), name);
		before = ", ";
	}
}

static void print_remembered(const json_t *programs)
{
	json_t *o, *p;
	size_t i;

	json_array_foreach((json_t *)programs, i, o) {
		p = json_object_get(o, "next_start");
		if (!json_is_object(p))
			continue;
		printf("process %lld, started by run --means auto: %s (%s)",
		       (long long)json_integer_value(json_object_get(o, "pid")),
		       json_string_value(json_object_get(p, "means")),
		       json_string_value(json_object_get(p, "why")));
		print_waits(json_object_get(p, "wait_us"));
		putchar('\n');
	}
}

/* Says it as status does: without this no other program is paused for its requests. */
static void print_untold(const json_t *programs)
{
	json_t *o;
	size_t i;

	json_array_foreach((json_t *)programs, i, o)
		if (json_is_true(json_object_get(o, "untold")))
			printf("note: nobody is paused for requests of process %lld: they are not "
			       "seen\n   do: start it by 'gpusched run --class lc'\n",
			       (long long)json_integer_value(json_object_get(o, "pid")));
}

/* A program loses the time that it waits and, where that is known, the time it is suspended. */
static char *loss_cell(const json_t *row)
{
	double suspended = gs_json_number(row, "suspended_pct");
	const json_t *wait = gs_json_at(row, "may_wait_us"),
		     *waited = gs_json_at(row, "waited_pct");
	CLEANUP_FREE char *to = gs_json_cell(json_object_get(row, "loses_to"));
	char *text = NULL;

	if (!json_array_size(json_object_get(row, "loses_to")))
		return NULL;
	if (wait ? asprintf(&text, "up to %g ms a turn to %s", json_number_value(wait) / 1000, to)
	    : waited ? asprintf(&text, "%.0f %% of its time to %s",
				fmin(100, json_number_value(waited) + suspended), to)
		     : asprintf(&text, "not known how much, to %s", to))
		return text;
	return NULL;
}

static char *had_cell(const json_t *row)
{
	const json_t *held = gs_json_at(row, "held_pct");
	char buf[GS_UNITS_TEXT];

	return held ? strdup(gs_units_percent(json_number_value(held), buf)) : NULL;
}

/* Prints the commands of @rows that are not in @seen yet: several GPUs may need the same one. */
static void print_commands(const json_t *rows, json_t *seen)
{
	json_t *row, *text;
	size_t i, k;

	json_array_foreach(rows, i, row)
		json_array_foreach(json_object_get(row, "do"), k, text) {
			const char *command = json_string_value(text);

			if (json_object_get(seen, command))
				continue;
			printf("%s  %s\n", json_object_size(seen) ? "" : "to type:\n", command);
			json_object_set_new(seen, command, json_true());
		}
}

/* Prints one line for each text that GPUs have under @key: "BEFORE GPUs 0, 1: TEXT AFTER". */
static void print_by_text(const json_t *gpus, const char *key, const char *before,
			  const char *after)
{
	CLEANUP_JSON json_t *texts = json_object();
	const char *text;
	json_t *gpu, *list;
	size_t i;

	json_array_foreach((json_t *)gpus, i, gpu) {
		text = json_string_value(json_object_get(gpu, key));
		if (!text)
			continue;
		if (!json_object_get(texts, text))
			json_object_set_new(texts, text, json_array());
		json_array_append(json_object_get(texts, text), json_object_get(gpu, "gpu"));
	}
	json_object_foreach(texts, text, list) {
		printf("%sGPU%s ", before, json_array_size(list) > 1 ? "s" : "");
		json_array_foreach(list, i, gpu)
			printf("%s%" JSON_INTEGER_FORMAT, i ? ", " : "", json_integer_value(gpu));
		printf(": %s%s\n", text, after);
	}
}

/*
 * True if policy auto runs, and there is advice for a program without a class: auto has to guess.
 */
static bool auto_guesses(const json_t *o)
{
	json_t *row;
	size_t i;

	json_array_foreach(json_object_get(o, "gpus"), i, row) {
		const char *policy = json_string_value(json_object_get(row, "policy"));

		if (!policy || strcmp(policy, "auto") != 0)
			return false;
	}
	json_array_foreach(json_object_get(o, "programs"), i, row)
		if (!gs_json_at(row, "class") && json_array_size(json_object_get(row, "do")))
			return true;
	return false;
}

/*
 * Prints a line if there is no command to type. It says "nothing has to be done" only about
 * programs that could be judged.
 */
static void print_no_commands(const json_t *programs, const json_t *gpus)
{
	size_t judged = 0, i;
	json_t *row;

	json_array_foreach((json_t *)programs, i, row)
		judged += is_true(row, "judged");
	puts(judged == json_array_size(programs) ? "nothing has to be done"
	     : judged ? "nothing has to be done for the programs of which something is known"
		      : "nothing is known of these programs: ask again when they compete");
	print_by_text(gpus, "reason", "", ": see 'gpusched status'");
}

/* A row for each program, with its losses, and notes. */
static void print_why(const struct cli *c, const json_t *o)
{
	static const struct gs_column columns[] = {
		{ "gpu", "GPU", GS_COL_RIGHT },
		{ "pid", "PID", GS_COL_RIGHT },
		{ "comm", "NAME" },
		{ "class", "CLASS" },
		{ "kind", "LOOKS LIKE" },
		{ "held_pct", "HAD GPU", GS_COL_RIGHT, .cell = had_cell },
		{ "loss", "LOSES", .cell = loss_cell },
		{ "means", "WHAT HELPS" },
	};
	const json_t *programs = json_object_get(o, "programs");

	cli_screen_rows(c, columns, GS_COUNT(columns), (json_t *)programs);
	if (auto_guesses(o))
		puts("policy auto goes by what it sees of programs without a class: a class is "
		     "surer");
	if (!json_is_true(json_object_get(o, "launches")))
		puts("launches were not counted ('gpusched observe launches' says why): what is\n"
		     "launch-bound is seen beside one other program only");
	print_remembered(programs);
}

/* One verdict for each GPU, with the row of docs/choosing.md, and what to type. */
static void print_all(const struct cli *c, const json_t *o)
{
	const json_t *programs = json_object_get(o, "programs"), *gpus = json_object_get(o, "gpus");
	CLEANUP_JSON json_t *seen = json_object();

	if (!json_array_size(programs)) {
		puts("no program uses a GPU");
		return;
	}
	print_by_text(gpus, "choice", "", "");
	print_commands(programs, seen);
	print_commands(gpus, seen);
	if (!json_object_size(seen))
		print_no_commands(programs, gpus);
	cli_print_status_findings(json_object_get(o, "findings"), "wrong");
	print_untold(programs);
	if (cli_opt(c, "why"))
		print_why(c, o);
	else
		puts("('gpusched advise --why' says what each program is, and loses to whom; the "
		     "rows are those\nof /usr/share/doc/gpusched/choosing.md)");
}

int cli_advise(struct cli *c)
{
	CLEANUP_JSON json_t *o = json_pack("{s:[], s:[]}", "programs", "gpus"), *status = NULL;
	uint64_t window_us = WINDOW_US;
	struct gs_error err = { 0 };
	json_t *gpu;
	size_t i;
	int r = 0;

	if (cli_opt(c, "for"))
		r = gs_parse_length(cli_opt(c, "for"), 100000, 3600000000ull, &window_us, &err);
	if (r)
		return cli_fail(r, "advise: --for: %s", err.text);
	/* launches are counted during the request, but not after this command */
	r = cli_ask(0, "status",
		    json_pack("{s:I, s:b}", "for_us", (json_int_t)window_us, "launches", 1),
		    &status);
	if (r)
		return gs_error_exit(r);
	json_array_foreach(json_object_get(status, "gpus"), i, gpu)
		take_gpu(status, gpu, o);
	add_remembered(json_object_get(o, "programs"));
	json_object_set(o, "findings", json_object_get(status, "findings"));
	json_object_set_new(o, "window_ms", json_integer((json_int_t)(window_us / 1000)));
	json_object_set(o, "launches", json_object_get(status, "launches_counted"));
	if (c->json)
		return gs_json_line(stdout, o) ? cli_fail(-EIO, "output cannot be written")
					       : GS_EXIT_OK;
	print_all(c, o);
	return GS_EXIT_OK;
}
