// SPDX-License-Identifier: MIT
/* status - is all well? Two looks, and what the GPUs did in between. */
#include <stdarg.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/parse.h"
#include "cli/cli.h"
#include "gpusched/gpusched.h"

#define LOST_LIMIT_PCT 10 /* of a GPU's time in switches: more is waste */
#define SHARE_LIMIT_PCT 1 /* a program that waits and gets less is starved */
#define WINDOW_US 1000000 /* without --for */

struct look {
	json_t *stats, *tsgs;
};

static void look_free(struct look *l)
{
	json_decref(l->stats);
	json_decref(l->tsgs);
}

static int look(struct gpusched *g, struct look *ret)
{
	CLEANUP_JSON json_t *list = NULL;
	int r = cli_request(g, "stats", NULL, &ret->stats);

	if (!r)
		r = cli_request(g, "list", json_pack("{s:s}", "target", "all"), &list);
	if (!r)
		ret->tsgs = json_incref(json_object_get(list, "tsgs"));
	return r;
}

/* ---- figures --------------------------------------------------------------------------------- */

static double number(const json_t *o, const char *path)
{
	return json_number_value(gs_json_at(o, path));
}

static double tenths(double v)
{
	return (double)(int64_t)(v * 10 + 0.5) / 10;
}

/* The element of @list whose @key is that of @like; NULL: none. */
static const json_t *same(const json_t *list, const json_t *like, const char *key)
{
	json_t *o;
	size_t i;

	json_array_foreach(list, i, o)
		if (json_integer_value(json_object_get(o, key)) ==
		    json_integer_value(json_object_get(like, key)))
			return o;
	return NULL;
}

/* @after less @before, in parts of @all; null where nobody knows. */
static void put_share(json_t *o, const char *name, const json_t *before, const json_t *after,
		      const char *path, double all)
{
	bool known = all > 0 && gs_json_at(after, path);
	double d = known ? number(after, path) - number(before, path) : 0;

	json_object_set_new(o, name, known ? json_real(tenths(100 * d / all)) : json_null());
}

static void put_rate(json_t *o, const char *name, double d, double span_ns)
{
	json_object_set_new(o, name,
			    span_ns > 0 ? json_real(tenths(d * 1e9 / span_ns)) : json_null());
}

/* What one compute TSG did in the window. */
static json_t *tsg_json(const json_t *before, const json_t *after, double span)
{
	static const char *const keys[] = { "id", "pid", "uid", "comm", "class", "suspended_by" };
	double turns = number(after, "turns.turns") - number(before, "turns.turns");
	double held = number(after, "gpu_time_ns") - number(before, "gpu_time_ns");
	json_t *o = json_object();

	for (size_t i = 0; i < GS_COUNT(keys); i++) {
		json_t *v = json_object_get(after, keys[i]);

		json_object_set_new(o, keys[i], v ? json_incref(v) : json_null());
	}
	put_share(o, "held_pct", before, after, "gpu_time_ns", span);
	put_share(o, "waited_pct", before, after, "wait_time_ns", span);
	put_share(o, "slice_ended_pct", before, after, "turns.slice_ended", turns);
	put_rate(o, "turns_per_s", turns, span);
	json_object_set_new(o, "mean_turn_us",
			    turns > 0 ? json_real(tenths(held / turns / 1e3)) : json_null());
	json_object_set_new(o, "waiting",
			    json_incref(gs_json_at(after, "turns.waiting")
						? (json_t *)gs_json_at(after, "turns.waiting")
						: json_null()));
	return o;
}

static json_t *gpu_json(const struct look *a, const struct look *b, const json_t *gpu)
{
	const json_t *before = same(json_object_get(a->stats, "gpu_time"), gpu, "gpu");
	double span = number(gpu, "span_ns") - number(before, "span_ns");
	json_t *o = json_object(), *tsgs = json_array(), *t;
	size_t i;

	json_object_set(o, "gpu", json_object_get(gpu, "gpu"));
	json_object_set(o, "gpu_uuid", json_object_get(gpu, "gpu_uuid"));
	json_object_set(o, "log", json_object_get(gpu, "log"));
	json_object_set(o, "reason", json_object_get(gpu, "reason"));
	put_share(o, "held_pct", before, gpu, "held_ns", span);
	put_share(o, "lost_pct", before, gpu, "lost_ns", span);
	put_share(o, "open_pct", before, gpu, "open_ns", span);
	put_share(o, "unknown_pct", before, gpu, "unknown_ns", span);
	put_rate(o, "switches_per_s", number(gpu, "switches") - number(before, "switches"), span);
	json_array_foreach(b->tsgs, i, t) {
		const char *kind = json_string_value(json_object_get(t, "kind"));
		const json_t *was = same(a->tsgs, t, "id");

		if (was && kind && !strcmp(kind, "compute") &&
		    number(t, "gpu") == number(gpu, "gpu"))
			json_array_append_new(tsgs, tsg_json(was, t, span));
	}
	json_object_set_new(o, "tsgs", tsgs);
	return o;
}

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

static void judge_gpu(const json_t *g, json_t *list)
{
	json_t *t;
	size_t i;

	if (!json_is_true(json_object_get(g, "log")) && gs_json_at(g, "reason"))
		wrong(list, "see 'gpusched doctor'; root can read it on a stock driver",
		      "GPU %lld: its log cannot be read: %s",
		      (long long)json_integer_value(json_object_get(g, "gpu")),
		      json_string_value(json_object_get(g, "reason")));
	if (number(g, "lost_pct") > LOST_LIMIT_PCT)
		wrong(list,
		      "longer slices for class be (gpusched set class:be timeslice=1ms), CUDA "
		      "graphs "
		      "in the service, or MPS for both",
		      "GPU %lld loses %.0f %% of its time in %.0f switches a second: some program "
		      "launches kernel by kernel beside short slices",
		      (long long)json_integer_value(json_object_get(g, "gpu")),
		      number(g, "lost_pct"), number(g, "switches_per_s"));
	json_array_foreach(json_object_get(g, "tsgs"), i, t)
		judge_tsg(t, list);
}

static void judge(const struct look *a, const struct look *b, const json_t *gpus, json_t *list)
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
	json_t *g;
	size_t i;

	if (!json_is_true(json_object_get(b->stats, "daemon")))
		wrong(list, "systemctl start gpuschedd", "no daemon runs: nobody watches the GPUs");
	json_array_foreach(gpus, i, g)
		judge_gpu(g, list);
	for (i = 0; i < GS_COUNT(counters); i++)
		if (number(b->stats, counters[i].path) > number(a->stats, counters[i].path))
			wrong(list, counters[i].remedy, "%s", counters[i].what);
}

/* ---- printing -------------------------------------------------------------------------------- */

static void print_gpu(const struct cli *c, const json_t *g, const char *policy)
{
	static const struct gs_column columns[] = {
		{ "pid", "PID", GS_COL_RIGHT },
		{ "comm", "COMM" },
		{ "class", "CLASS" },
		{ "held_pct", "HELD %", GS_COL_RIGHT },
		{ "waited_pct", "WAITED %", GS_COL_RIGHT },
		{ "turns_per_s", "TURNS/S", GS_COL_RIGHT },
		{ "mean_turn_us", "TURN US", GS_COL_RIGHT },
		{ "slice_ended_pct", "CUT %", GS_COL_RIGHT },
	};
	const json_t *held = gs_json_at(g, "held_pct");
	json_t *tsgs = json_object_get(g, "tsgs");

	printf("GPU %lld, policy %s: ", (long long)json_integer_value(json_object_get(g, "gpu")),
	       policy ? policy : "none");
	if (held)
		printf("held %.0f %%, lost in switches %.0f %%, open %.0f %%, %.0f switches/s\n",
		       json_number_value(held), number(g, "lost_pct"), number(g, "open_pct"),
		       number(g, "switches_per_s"));
	else
		puts(json_array_size(tsgs) ? "one program or none has work: no switches are seen"
					   : "no program uses it");
	if (json_array_size(tsgs))
		cli_print_rows(c, columns, GS_COUNT(columns), tsgs);
}

static void print_status(const struct cli *c, const json_t *o)
{
	const char *policy = json_string_value(json_object_get(o, "policy"));
	json_t *x;
	size_t i;

	json_array_foreach(json_object_get(o, "gpus"), i, x)
		print_gpu(c, x, policy);
	json_array_foreach(json_object_get(o, "wrong"), i, x)
		printf("wrong: %s\n   do: %s\n", json_string_value(json_object_get(x, "what")),
		       json_string_value(json_object_get(x, "do")));
	if (!json_array_size(json_object_get(o, "wrong")))
		puts("nothing is wrong");
}

int cli_status(struct cli *c)
{
	CLEANUP(look_free) struct look a = { 0 }, b = { 0 };
	CLEANUP_GPUSCHED struct gpusched *g = NULL;
	CLEANUP_JSON json_t *o = json_object();
	json_t *gpus = json_array(), *list = json_array(), *gpu;
	uint64_t window_us = WINDOW_US;
	struct gs_error err = { 0 };
	size_t i;
	int r = 0;

	json_object_set_new(o, "ok", json_false());
	json_object_set_new(o, "gpus", gpus);
	json_object_set_new(o, "wrong", list);
	if (cli_opt(c, "for"))
		r = gs_parse_us(cli_opt(c, "for"), 100000, 3600000000ull, &window_us, &err);
	if (r)
		return cli_fail(r, "status: --for: %s", err.text);
	r = cli_open(GPUSCHED_OPEN_READ_ONLY, &g);
	if (!r)
		r = look(g, &a);
	if (r)
		return gs_exit_of(r);
	gs_sleep_ns(window_us * NS_PER_US);
	r = look(g, &b);
	if (r)
		return gs_exit_of(r);
	json_array_foreach(json_object_get(b.stats, "gpu_time"), i, gpu)
		json_array_append_new(gpus, gpu_json(&a, &b, gpu));
	judge(&a, &b, gpus, list);
	json_object_set(o, "policy", json_object_get(b.stats, "policy"));
	json_object_set_new(o, "window_ms", json_integer((json_int_t)(window_us / 1000)));
	json_object_set_new(o, "ok", json_boolean(!json_array_size(list)));
	if (c->json)
		r = gs_json_line(stdout, o);
	else
		print_status(c, o);
	return r ? gs_exit_of(r) : json_array_size(list) ? GS_EXIT_WRONG : GS_EXIT_OK;
}
