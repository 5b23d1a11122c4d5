/* SPDX-License-Identifier: MIT */
#include "sim/report.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/say.h"
#include "basic/json_sheet.h"
#include "basic/term.h"

static void target_of(const struct sim_process_result *p, char *ret, size_t size)
{
	if (p->group->count == 1)
		snprintf(ret, size, "%s", p->group->name);
	else
		snprintf(ret, size, "%s[%u]", p->group->name, p->index);
}

static int metric_of(const struct sim_result *r, const struct sim_process_result *p,
		     const char *metric, double *ret)
{
	char name[SIM_NAME_LEN + 48];

	snprintf(name, sizeof(name), "%s[%u].%s", p->group->name, p->index, metric);
	return sim_result_metric(r, name, ret);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static double rounded(double v)
{
	return round(v * 1000) / 1000;
}

static void set_metric(json_t *o, const char *key, const struct sim_result *r,
		       const struct sim_process_result *p, const char *metric)
{
	double v;

	json_object_set_new(o, key,
			    metric_of(r, p, metric, &v) == 0 ? json_real(rounded(v)) : json_null());
}

/* A TSG's figures from the model's own record, which is the truth. */
static json_t *model_json(const struct sim_tsg_state *s)
{
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "held_ns",
			 (json_int_t)s->held_ns, "turns", (json_int_t)s->context_switches,
			 "contended_ns", (json_int_t)s->contended_ns, "contended_told_ns",
			 (json_int_t)s->contended_told_ns, "slice_ended", (json_int_t)s->cuts,
			 "waits", (json_int_t)s->waits, "wait_ns", (json_int_t)s->wait_time_ns,
			 "cut_waits", (json_int_t)s->cut_waits, "cut_wait_ns",
			 (json_int_t)s->cut_wait_ns);
}

static json_t *account_json(const struct sim_result *r, const struct gs_turn_sums *s)
{
	if (r->scenario->parts) /* a divided GPU has no log */
		return json_null();
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "held_ns",
			 (json_int_t)s->held_ns, "turns", (json_int_t)s->turns + s->loaded,
			 "contended_ns", (json_int_t)s->contended_ns, "contended_off_ns",
			 (json_int_t)s->contended_off_ns, "slice_ended",
			 (json_int_t)s->ended[GS_TURN_SLICE], "unsure",
			 (json_int_t)s->ended[GS_TURN_UNSURE], "waits", (json_int_t)s->waits,
			 "wait_ns", (json_int_t)s->wait_ns);
}

static json_t *judged_json(const struct sim_judged *j)
{
	return json_pack("{s:I, s:I, s:I, s:I, s:I}", "right", (json_int_t)j->right, "wrong",
			 (json_int_t)j->wrong, "cut", (json_int_t)j->cut, "cut_unknown",
			 (json_int_t)j->cut_unknown, "drained_unknown",
			 (json_int_t)j->drained_unknown);
}

static json_t *process_json(const struct sim_result *r, const struct sim_process_result *p)
{
	char name[SIM_NAME_LEN + 16];
	json_t *o;

	target_of(p, name, sizeof(name));
	o = json_pack("{s:s, s:s, s:s, s:i, s:I, s:I, s:I}", "name", name, "class",
		      p->group->class_name, "kind", sim_kind_words[p->group->kind], "gpu",
		      (int)p->gpu, "requests", (json_int_t)p->nlatency, "kernels",
		      (json_int_t)p->kernels, "switches", (json_int_t)p->switches);
	if (!o)
		return NULL;
	set_metric(o, "p50_us", r, p, "p50_us");
	set_metric(o, "p90_us", r, p, "p90_us");
	set_metric(o, "p99_us", r, p, "p99_us");
	set_metric(o, "max_us", r, p, "max_us");
	set_metric(o, "mean_us", r, p, "mean_us");
	set_metric(o, "rate_per_s", r, p, "rate");
	set_metric(o, "gpu_share_pct", r, p, "share_pct");
	set_metric(o, "suspended_pct", r, p, "suspended_pct");
	set_metric(o, "longest_us", r, p, "longest_us");
	json_object_set_new(o, "died",
			    p->died ? json_string(sim_death_words[p->died]) : json_null());
	json_object_set_new(o, "timeslice_us", json_integer(p->is.timeslice_us));
	json_object_set_new(o, "model", model_json(&p->all));
	json_object_set_new(o, "account", account_json(r, &p->account));
	json_object_set_new(o, "account_of_log", account_json(r, &p->account_of_log));
	json_object_set_new(o, "judged", judged_json(&p->judged));
	return o;
}

static json_t *check_json(const struct sim_check *c, const struct sim_check_result *o)
{
	json_t *j = json_pack("{s:s, s:b, s:b, s:f}", "check", c->text, "ok", o->ok, "known_miss",
			      c->missed, "expected", c->limit);

	if (!j)
		return NULL;
	json_object_set_new(j, "value", o->known ? json_real(rounded(o->value)) : json_null());
	if (c->op == SIM_CHECK_REFERENCE)
		json_object_set_new(j, "deviation_pct",
				    o->known && c->limit
					    ? json_real(rounded(100 * (o->value / c->limit - 1)))
					    : json_null());
	return j;
}

static json_t *engine_json(const struct sim_result *r)
{
	json_t *o = json_object();

	for (int i = 0; i < GS_ENG_MAX; i++)
		json_object_set_new(o, gs_core_counter_name(i),
				    json_integer((json_int_t)r->engine[i]));
	return o;
}

json_t *sim_report_json(const struct sim_result *r)
{
	const struct sim_scenario *s = r->scenario;
	json_t *o = json_pack("{s:s, s:s, s:s, s:I, s:f, s:I, s:f}", "scenario", s->name, "title",
			      s->title, "basis", s->basis, "seed", (json_int_t)r->seed,
			      "measured_s", r->measured_s, "rm_calls", (json_int_t)r->calls,
			      "rm_call_ms", rounded((double)r->call_ns / 1e6));
	json_t *processes = json_array(), *checks = json_array();

	if (!o || !processes || !checks)
		goto fail;
	json_object_set_new(o, "policy", r->policy[0] ? json_string(r->policy) : json_null());
	json_object_set_new(o, "rm_calls_failed", json_integer((json_int_t)r->failed_calls));
	json_object_set_new(o, "rm_locked_ms", json_real(rounded((double)r->lock_ns / 1e6)));
	json_object_set_new(o, "facts", json_string(sim_facts_words[r->facts]));
	json_object_set_new(o, "policy_failure",
			    r->policy_failure[0] ? json_string(r->policy_failure) : json_null());
	json_object_set_new(o, "engine", r->policy[0] ? engine_json(r) : json_null());
	for (size_t i = 0; i < r->nprocesses; i++)
		json_array_append_new(processes, process_json(r, &r->processes[i]));
	for (size_t i = 0; i < s->nchecks; i++)
		json_array_append_new(checks, check_json(&s->checks[i], &r->checks[i]));
	json_object_set_new(o, "processes", processes);
	json_object_set_new(o, "checks", checks);
	json_object_set_new(o, "passed", json_boolean(r->passed));
	return o;
fail:
	json_decref(o);
	json_decref(processes);
	json_decref(checks);
	return NULL;
}

/* ---- tables ---------------------------------------------------------------------------------- */

static const struct gs_column process_columns[] = {
	{ "name", "PROCESS" },
	{ "class", "CLASS" },
	{ "gpu", "GPU", GS_COL_RIGHT, .spare = 5 },
	{ "p50_us", "P50_US", GS_COL_WHOLE },
	{ "p90_us", "P90_US", GS_COL_WHOLE, .spare = 2 },
	{ "p99_us", "P99_US", GS_COL_WHOLE },
	{ "max_us", "MAX_US", GS_COL_WHOLE, .spare = 1 },
	{ "rate_per_s", "RATE/S", GS_COL_WHOLE },
	{ "gpu_share_pct", "GPU%", GS_COL_TENTHS },
	{ "switches", "SWITCHES", GS_COL_RIGHT, .spare = 3 },
	{ "suspended_pct", "SUSPENDED%", GS_COL_TENTHS, .spare = 4 },
	{ "timeslice_us", "SLICE_US", GS_COL_RIGHT },
};

#define MAX_ROWS 24u /* if there are more processes, only the JSON output has all */

/* Prints a table: as wide as the terminal, if @out is one. */
static int print_table(struct gs_sheet *t, FILE *out)
{
	int r = gs_sheet_fit(t, gs_term_width(out));

	return r ? r : gs_sheet_end(t);
}

static int add_row(struct gs_sheet *t, json_t *row)
{
	int r = row ? gs_sheet_row(t, row) : -ENOMEM;

	json_decref(row);
	return r;
}

static int print_processes(const struct sim_result *r, FILE *out)
{
	CLEANUP_SHEET struct gs_sheet *t = NULL;
	int err = gs_sheet_new(process_columns, GS_COUNT(process_columns), GS_SHEET_PLAIN, out, &t);

	for (size_t i = 0; !err && i < r->nprocesses && i < MAX_ROWS; i++) {
		json_t *row = process_json(r, &r->processes[i]);

		if (!r->processes[i].is.timeslice_us)
			json_object_del(row, "timeslice_us");
		err = add_row(t, row);
	}
	if (!err)
		err = print_table(t, out);
	if (!err && r->nprocesses > MAX_ROWS)
		fprintf(out, "(%zu more processes: see --json)\n", r->nprocesses - MAX_ROWS);
	return err;
}

static char *value_cell(const json_t *row)
{
	const json_t *v = gs_json_at(row, "value");
	double value = json_number_value(v);
	char *text = NULL;

	return !v || asprintf(&text, fabs(value) < 10 ? "%.3g" : "%.0f", value) < 0 ? NULL : text;
}

static char *off_cell(const json_t *row)
{
	const json_t *v = gs_json_at(row, "deviation_pct");
	char *text = NULL;

	return !v || asprintf(&text, "%+.1f%%", json_number_value(v)) < 0 ? NULL : text;
}

static char *result_cell(const json_t *row)
{
	return strdup(json_is_true(json_object_get(row, "ok"))           ? "ok"
		      : json_is_true(json_object_get(row, "known_miss")) ? "missed"
									 : "FAILED");
}

static const struct gs_column check_columns[] = {
	{ "scenario", "SCENARIO", .spare = 1 },
	{ "basis", "BASIS", .spare = 2 },
	{ "check", "CHECK" },
	{ "value", "MODEL", GS_COL_RIGHT, .cell = value_cell },
	{ "deviation_pct", "OFF_BY", GS_COL_RIGHT, .cell = off_cell },
	{ "ok", "RESULT", .cell = result_cell },
};

int sim_report_checks(const struct sim_result *r, FILE *out)
{
	CLEANUP_SHEET struct gs_sheet *t = NULL;
	const struct sim_scenario *s = r->scenario;
	int err = gs_sheet_new(check_columns, GS_COUNT(check_columns), GS_SHEET_PLAIN, out, &t);

	for (size_t i = 0; !err && i < s->nchecks; i++) {
		json_t *row = check_json(&s->checks[i], &r->checks[i]);

		json_object_set_new(row, "scenario", json_string(s->name));
		json_object_set_new(row, "basis", json_string(s->basis));
		err = add_row(t, row);
	}
	return err ? err : print_table(t, out);
}

/* Prints the counters of the engine's laws. */
static void print_engine(const struct sim_result *r, FILE *out)
{
	for (int i = GS_ENG_CALL_NS + 1; i < GS_ENG_MAX; i++) {
		CLEANUP_FREE char *line = NULL;

		if (r->engine[i] &&
		    asprintf(&line, "%s %llu: %s", gs_core_counter_name(i),
			     (unsigned long long)r->engine[i], gs_core_counter_text(i)) > 0)
			gs_term_wrap(out, line, 0, gs_term_width(out));
	}
}

int sim_report_table(const struct sim_result *r, FILE *out)
{
	CLEANUP_FREE char *title = NULL;
	int err;

	if (asprintf(&title, "%s: %s", r->scenario->name, r->scenario->title) > 0)
		gs_term_wrap(out, title, 0, gs_term_width(out));
	fprintf(out, "GPU model %s, virtual time, %.1f s measured, seed %llu, policy %s%s\n",
		r->scenario->params.name, r->measured_s, (unsigned long long)r->seed,
		r->policy[0] ? r->policy : "-",
		r->policy[0] && r->facts == SIM_FACTS_ALL ? ", told all that the model knows" : "");
	if (r->policy_failure[0])
		fprintf(out, "the policy ended: %s\n", r->policy_failure);
	if (r->calls)
		fprintf(out, "%llu RM calls, %.1f ms\n", (unsigned long long)r->calls,
			(double)r->call_ns / 1e6);
	print_engine(r, out);
	fputc('\n', out);
	err = print_processes(r, out);
	if (err < 0 || !r->scenario->nchecks)
		return err;
	fputc('\n', out);
	return sim_report_checks(r, out);
}

/* ---- timeline -------------------------------------------------------------------------------- */

int sim_report_timeline(const struct sim_result *r, FILE *out)
{
	char name[SIM_NAME_LEN + 16];
	uint64_t from = (uint64_t)(r->scenario->warmup_s * 1e9);

	fprintf(out, "# gnuplot -p FILE: who had the GPU\nset title \"%s\"\nset xlabel \"ms\"\n",
		r->scenario->name);
	fprintf(out, "set yrange [-0.5:%zu.5]\nset key off\nset ytics (", r->nprocesses - 1);
	for (size_t i = 0; i < r->nprocesses; i++) {
		target_of(&r->processes[i], name, sizeof(name));
		fprintf(out, "%s\"%s\" %zu", i ? ", " : "", name, i);
	}
	fprintf(out, ")\n$turns << END\n# start_ms row end_ms gpu\n");
	for (size_t i = 0; i < r->nturns; i++) {
		const struct sim_turn *t = &r->turns[i];

		fprintf(out, "%.4f %zu %.4f %u\n", (double)(t->start_ns - from) / 1e6, t->process,
			(double)(t->end_ns - from) / 1e6, t->gpu);
	}
	fprintf(out, "END\nplot $turns using 1:2:1:3:($2-0.4):($2+0.4):($2+1) "
		     "with boxxyerror fill solid linecolor variable\n");
	return ferror(out) ? -EIO : 0;
}
