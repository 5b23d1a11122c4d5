// SPDX-License-Identifier: MIT
/* status - is all well? Two looks, and what the GPUs did in between. */
#include <stdarg.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/parse.h"
#include "cli/cli.h"
#include "cli/look.h"
#include "gpusched/gpusched.h"

#define LOST_LIMIT_PCT 10 /* of a GPU's time in switches: more is waste */
#define SHARE_LIMIT_PCT 1 /* a program that waits and gets less is starved */
#define WINDOW_US 1000000 /* without --for */

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
	if (cli_number(g, "lost_pct") > LOST_LIMIT_PCT)
		wrong(list,
		      "longer slices for class be (gpusched set class:be timeslice=1ms), CUDA "
		      "graphs "
		      "in the service, or MPS for both",
		      "GPU %lld loses %.0f %% of its time in %.0f switches a second: some program "
		      "launches kernel by kernel beside short slices",
		      (long long)json_integer_value(json_object_get(g, "gpu")),
		      cli_number(g, "lost_pct"), cli_number(g, "switches_per_s"));
	json_array_foreach(json_object_get(g, "tsgs"), i, t)
		judge_tsg(t, list);
}

static void judge(const struct cli_look *a, const struct cli_look *b, const json_t *gpus,
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
	json_t *g;
	size_t i;

	if (!json_is_true(json_object_get(b->stats, "daemon")))
		wrong(list, "systemctl start gpuschedd", "no daemon runs: nobody watches the GPUs");
	json_array_foreach(gpus, i, g)
		judge_gpu(g, list);
	for (i = 0; i < GS_COUNT(counters); i++)
		if (cli_number(b->stats, counters[i].path) > cli_number(a->stats, counters[i].path))
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
		       json_number_value(held), cli_number(g, "lost_pct"),
		       cli_number(g, "open_pct"), cli_number(g, "switches_per_s"));
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
	CLEANUP(cli_look_free) struct cli_look a = { 0 }, b = { 0 };
	CLEANUP_GPUSCHED struct gpusched *g = NULL;
	CLEANUP_JSON json_t *o = json_object();
	json_t *gpus, *list = json_array();
	uint64_t window_us = WINDOW_US;
	struct gs_error err = { 0 };
	int r = 0;

	json_object_set_new(o, "ok", json_false());
	json_object_set_new(o, "wrong", list);
	if (cli_opt(c, "for"))
		r = gs_parse_us(cli_opt(c, "for"), 100000, 3600000000ull, &window_us, &err);
	if (r)
		return cli_fail(r, "status: --for: %s", err.text);
	r = cli_open(GPUSCHED_OPEN_READ_ONLY, &g);
	if (!r)
		r = cli_look(g, &a);
	if (r)
		return gs_exit_of(r);
	gs_sleep_ns(window_us * NS_PER_US);
	r = cli_look(g, &b);
	if (r)
		return gs_exit_of(r);
	gpus = cli_look_gpus(&a, &b);
	json_object_set_new(o, "gpus", gpus);
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
