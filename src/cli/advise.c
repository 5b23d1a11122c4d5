// SPDX-License-Identifier: MIT
/* advise.c - says what each program is, what it loses to others, and which command would help */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "basic/parse.h"
#include "cli/advise.h"
#include "cli/cli.h"
#include "cli/verbs_look.h"
#include "gpusched/gpusched.h"
#include "mps/control.h"
#include "policy/policy.h"

#define WINDOW_US 10000000

/* ---- what was seen --------------------------------------------------------------------------- */

static double sum_of(const json_t *t, const char *key)
{
	return gs_json_number(json_object_get(t, "sums"), key);
}

static struct gs_program_seen seen_of(const json_t *t, double span_s)
{
	const char *by = json_string_value(json_object_get(t, "suspended_by"));
	bool came = json_is_true(json_object_get(t, "came"));
	bool hidden = json_is_true(json_object_get(t, "hidden"));

	return (struct gs_program_seen){
		.known = span_s > 0 && !came && !hidden && gs_json_at(t, "sums"),
		.hidden = hidden,
		.server = json_is_true(json_object_get(t, "mps")),
		/* a program that only the policy suspends has turns to judge it by */
		.suspended = by && ((strcmp(by, "policy") && strcmp(by, "request")) ||
				    sum_of(t, "turns") <= 0),
		.span_s = span_s,
		.held_s = sum_of(t, "held_ms") / 1e3,
		.turns = sum_of(t, "turns"),
		.slice_ended = sum_of(t, "slice_ended"),
		.drained = sum_of(t, "drained"),
		.returns = sum_of(t, "returns"),
		.waited_s = gs_json_at(t, "waited_pct") ? sum_of(t, "waited_ms") / 1e3 : NAN,
		.launches = gs_json_at(t, "launches") ? gs_json_number(t, "launches") : NAN,
		.timeslice_us = (uint32_t)gs_json_number(t, "timeslice_us"),
	};
}

static uint32_t longest_beside(const json_t *tsgs, const json_t *than)
{
	double longest = 0;
	json_t *t;
	size_t i;

	json_array_foreach((json_t *)tsgs, i, t)
		if (t != than)
			longest = fmax(longest, gs_json_number(t, "timeslice_us"));
	return (uint32_t)longest;
}

/* One GPU and its programs. */
struct crowd {
	struct advise_crowd c;
	const char *policy;       /* the policy that runs; NULL: none */
	const char *reason;       /* why the GPU's log is not read; NULL: it is read */
	json_t *programs;         /* rows of the answer, one for each program */
	double lost_pct;          /* GPU time lost in switches, %; NAN: unknown */
	double turn_cost_s;       /* cost of a turn without work; NAN: unknown */
	double span_s, window_ms; /* by the GPU's clock; by the host's */
	long long gpu;
};

static void put(json_t *o, const char *key, double v)
{
	json_object_set_new(o, key, isfinite(v) ? json_real(round(v * 10) / 10) : json_null());
}

/*
 * True if the TSG was in CTA mode at both ends of the window. CUDA sets CILP, and gpusched sets no
 * other mode by itself. So its owner or a person chose CTA because its thread blocks are short.
 */
static bool stays_in_cta(const json_t *t)
{
	const char *was = json_string_value(json_object_get(t, "preempt_mode_before")),
		   *is = json_string_value(json_object_get(t, "preempt_mode"));

	return was && is && !strcmp(was, "cta") && !strcmp(is, "cta");
}

static void add_program(struct crowd *c, const json_t *t, uint32_t beside_us)
{
	static const char *const keys[] = { "pid", "uid", "comm", "class" };
	struct gs_program_seen s = seen_of(t, c->span_s);
	enum gs_program_kind kind;
	json_t *o = json_object();

	s.beside_us = beside_us;
	s.turn_cost_s = c->turn_cost_s;
	kind = gs_program_kind(&s);
	for (size_t i = 0; i < GS_COUNT(keys); i++) {
		json_t *v = json_object_get(t, keys[i]);

		json_object_set(o, keys[i], v ? v : json_null());
	}
	json_object_set_new(o, "gpu", json_integer(c->gpu));
	json_object_set_new(o, "kind", json_string(gs_program_kind_name(kind)));
	json_object_set_new(o, "why", json_string(gs_program_kind_text(kind)));
	json_object_set_new(o, "timeslice_us", json_integer(s.timeslice_us));
	/* the GPU and its programs are read at slightly different times, so cap the part */
	put(o, "held_pct", s.known ? fmin(100, 100 * s.held_s / s.span_s) : NAN);
	put(o, "waited_pct", s.known ? 100 * s.waited_s / s.span_s : NAN);
	put(o, "suspended_pct",
	    c->window_ms > 0 && gs_json_at(t, "sums.suspended_ms")
		    ? fmin(100, 100 * sum_of(t, "suspended_ms") / c->window_ms)
		    : NAN);
	put(o, "turns_per_s", s.known ? s.turns / s.span_s : NAN);
	put(o, "launches_per_s", s.launches / s.span_s);
	json_object_set_new(o, "untold",
			    json_boolean(cli_status_is_untold(json_object_get(t, "policy_says"))));
	json_object_set(o, "requests_by", json_object_get(t, "requests_by") ?: json_null());
	c->c.n[kind]++;
	c->c.short_blocks |= kind == GS_PROGRAM_BATCH && stays_in_cta(t);
	json_array_append_new(c->programs, o);
}

static enum gs_program_kind kind_of(const json_t *program)
{
	const char *name = json_string_value(json_object_get(program, "kind"));
	enum gs_program_kind k = GS_PROGRAM_UNSEEN;

	while (k < GS_PROGRAM_KIND_MAX - 1 && strcmp(gs_program_kind_name(k), name ? name : ""))
		k++;
	return k;
}

/* ---- what a program loses, and the means ------------------------------------------------- */

/*
 * Adds which programs take GPU time from this one. A request may have to wait for one slice of each
 * batch program; a batch program waits for the slices of all others.
 */
static void put_loss(const struct crowd *c, json_t *o, enum gs_program_kind kind)
{
	json_t *to = json_array(), *other;
	double slices = 0;
	size_t i;

	json_array_foreach(c->programs, i, other) {
		enum gs_program_kind k = kind_of(other);
		bool counts = k == GS_PROGRAM_BATCH ||
			      (kind == GS_PROGRAM_BATCH &&
			       (k == GS_PROGRAM_WHOLE || k == GS_PROGRAM_LAUNCH_BOUND));

		if (other == o || !counts)
			continue;
		json_array_append(to, json_object_get(other, "pid"));
		slices += gs_json_number(other, "timeslice_us");
	}
	if (kind != GS_PROGRAM_WHOLE && kind != GS_PROGRAM_LAUNCH_BOUND && kind != GS_PROGRAM_BATCH)
		json_array_clear(to);
	put(o, "may_wait_us",
	    (kind == GS_PROGRAM_WHOLE || kind == GS_PROGRAM_LAUNCH_BOUND) && json_array_size(to)
		    ? slices
		    : NAN);
	json_object_set_new(o, "loses_to", to);
}

static bool has_class(const json_t *program, const char *name)
{
	const char *class_name = json_string_value(json_object_get(program, "class"));

	return class_name && !strcmp(class_name, name);
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

/* Lists remedies that help now before those that help only at the program's next start (a pool). */
static void put_means(const struct crowd *c, json_t *o, enum gs_program_kind kind)
{
	enum advise_means m = advise_means(kind, &c->c);
	long long pid = json_integer_value(json_object_get(o, "pid"));
	const char *policy = advise_policy(&c->c), *want = kind == GS_PROGRAM_BATCH ? "be" : "lc";
	bool mine = json_integer_value(json_object_get(o, "uid")) == geteuid();
	bool by_class = m == ADVISE_DO_LC || m == ADVISE_DO_BE || m == ADVISE_DO_POOL;
	json_t *list = json_array();

	if ((m == ADVISE_DO_LC || m == ADVISE_DO_BE) && has_class(o, want) && policy && c->policy &&
	    !strcmp(policy, c->policy))
		m = ADVISE_DO_NOTHING; /* class and policy are right already */
	if (by_class && policy && !has_class(o, want))
		json_array_append_new(list,
				      json_sprintf("%sgpusched class set pid:%lld %s",
						   sudo(!mine || !strcmp(want, "lc")), pid, want));
	if (m == ADVISE_DO_POOL || m == ADVISE_DO_SHARE)
		json_array_append_new(
			list, json_sprintf("gpusched run --%s --class %s -- COMMAND # instead of "
					   "process %lld%s%s",
					   m == ADVISE_DO_POOL ? "pool" : "share",
					   m == ADVISE_DO_POOL ? "be" : want, pid,
					   geteuid() && m == ADVISE_DO_SHARE && !strcmp(want, "lc")
						   ? "; root gives class lc, or AllowClass="
						   : "",
					   has_mps() ? "" : "; first install " MPS));
	json_object_set_new(o, "means", json_string(advise_means_name(m)));
	json_object_set_new(o, "text", json_string(advise_means_text(m)));
	json_object_set_new(o, "do", list);
}

static json_t *gpu_json(const struct crowd *c)
{
	const char *policy = advise_policy(&c->c);
	bool runs = policy && c->policy && !strcmp(policy, c->policy);
	json_t *o = json_pack("{s:I, s:s?, s:s?}", "gpu", (json_int_t)c->gpu, "policy", c->policy,
			      "reason", c->reason);
	json_t *list = json_array();

	put(o, "lost_pct", c->lost_pct);
	if (policy && !runs)
		json_array_append_new(
			list, json_sprintf("%sgpusched policy start %s", sudo(true), policy));
	json_object_set_new(o, "do", list);
	json_object_set_new(o, "choice", json_string(advise_line_text(advise_line(&c->c))));
	return o;
}

/* ---- all ------------------------------------------------------------------------------------- */

static bool installed(const char *policy)
{
	CLEANUP(gs_policy_info_free) struct gs_policy_info info = { 0 };

	return !gs_policy_info(policy, &info, NULL);
}

static void judge_gpu(const json_t *status, const json_t *gpu, const struct advise_crowd *means,
		      json_t *ret)
{
	struct crowd c = { .c = *means };
	CLEANUP_JSON json_t *mine = json_array();
	const json_t *lost = gs_json_at(gpu, "lost_pct"), *tsgs = json_object_get(gpu, "tsgs");
	const json_t *costs = json_object_get(gpu, "costs"),
		     *cost = gs_json_at(costs, "idle_turn_us"),
		     *save = gs_json_at(costs, "save_us");
	json_t *t, *o;
	size_t i;

	c.gpu = json_integer_value(json_object_get(gpu, "gpu"));
	c.policy = json_string_value(json_object_get(status, "policy"));
	c.reason = json_string_value(json_object_get(gpu, "reason"));
	c.lost_pct = lost ? json_number_value(lost) : NAN;
	c.window_ms = gs_json_number(status, "window_ms");
	c.span_s = gs_json_number(gpu, "span_ms") / 1e3;
	/*
	 * the log does not show this cost: unless somebody measured it, assume two thirds of a
	 * save, as on an H200
	 */
	c.turn_cost_s = cost   ? json_number_value(cost) / 1e6
			: save ? json_number_value(save) / 1.5e6
			       : NAN;
	c.programs = mine;
	json_array_foreach((json_t *)tsgs, i, t)
		add_program(&c, t, longest_beside(tsgs, t));
	json_array_foreach(mine, i, o) {
		put_loss(&c, o, kind_of(o));
		put_means(&c, o, kind_of(o));
	}
	json_array_extend(json_object_get(ret, "programs"), mine);
	json_array_append_new(json_object_get(ret, "gpus"), gpu_json(&c));
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

/* Says how a program can report its requests: without that, no other program is held for them. */
static void print_untold(const json_t *programs)
{
	json_t *o;
	size_t i;

	json_array_foreach((json_t *)programs, i, o)
		if (json_is_true(json_object_get(o, "untold")))
			printf("process %lld does not tell of its requests, so nobody is held for "
			       "them:\nstart it by 'gpusched run --class lc', let it give hints "
			       "(gpusched-hints(7)), or count launches\n(sudo gpusched "
			       "observe launches on)\n",
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
		judged += gs_program_kind_is_known(kind_of(row));
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
		{ "held_pct", "HAD GPU %", GS_COL_TENTHS },
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
		puts("('gpusched advise --why' says what each program is, and loses to whom; rows "
		     "are of choosing.md)");
}

int cli_advise(struct cli *c)
{
	CLEANUP_JSON json_t *o = json_pack("{s:[], s:[]}", "programs", "gpus"), *status = NULL;
	const struct advise_crowd means = {
		.has_auto = installed("auto"),
		.has_pool = cli_find_run_option(c->table, "pool"),
		.has_share = cli_find_run_option(c->table, "share"),
	};
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
		judge_gpu(status, gpu, &means, o);
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
