/* SPDX-License-Identifier: MIT */
#include "sim/report.h"

#include <errno.h>
#include <jansson.h>
#include <libsmartcols.h>
#include <math.h>
#include <string.h>

#include "basic/cleanup.h"

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

/* Who had the GPU: the model's own record, and what the account makes of the log. */
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

static json_t *account_json(const struct gs_turn_sums *s)
{
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "held_ns",
			 (json_int_t)s->held_ns, "turns", (json_int_t)s->turns + s->loaded,
			 "contended_ns", (json_int_t)s->contended_ns, "contended_off_ns",
			 (json_int_t)s->contended_off_ns, "slice_ended",
			 (json_int_t)s->ended[GS_TURN_SLICE], "unsure",
			 (json_int_t)s->ended[GS_TURN_UNSURE], "waits", (json_int_t)s->waits,
			 "wait_ns", (json_int_t)s->wait_ns);
}

static json_t *process_json(const struct sim_result *r, const struct sim_process_result *p)
{
	char name[SIM_NAME_LEN + 16];
	json_t *o;

	target_of(p, name, sizeof(name));
	o = json_pack("{s:s, s:s, s:s, s:i, s:I, s:I, s:I}", "name", name, "class",
		      p->group->class_name, "kind", p->group->kind == SIM_KIND_LC ? "lc" : "be",
		      "gpu", (int)p->gpu, "requests", (json_int_t)p->nlatency, "kernels",
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
	json_object_set_new(o, "timeslice_us", json_integer(p->is.timeslice_us));
	json_object_set_new(o, "model", model_json(&p->all));
	json_object_set_new(o, "account", account_json(&p->account));
	json_object_set_new(o, "account_of_log", account_json(&p->account_of_log));
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
		json_object_set_new(o, gs_engine_counter_name(i),
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

static void unref_table(struct libscols_table **t)
{
	if (*t)
		scols_unref_table(*t);
}

struct column {
	const char *name;
	bool right;
};

static struct libscols_table *new_table(const struct column *columns, size_t n, FILE *out)
{
	struct libscols_table *t = scols_new_table();

	if (!t)
		return NULL;
	scols_table_set_stream(t, out);
	scols_table_enable_nowrap(t, 1);
	scols_table_set_termforce(t, SCOLS_TERMFORCE_NEVER);
	for (size_t i = 0; i < n; i++)
		scols_table_new_column(t, columns[i].name, 0,
				       columns[i].right ? SCOLS_FL_RIGHT : 0);
	return t;
}

static void cell(struct libscols_line *line, size_t column, bool known, const char *format,
		 double v)
{
	char text[64];

	snprintf(text, sizeof(text), format, v);
	scols_line_set_data(line, column, known ? text : "-");
}

static const struct column process_columns[] = {
	{ "PROCESS", false }, { "CLASS", false },   { "GPU", true },        { "P50_US", true },
	{ "P90_US", true },   { "P99_US", true },   { "MAX_US", true },     { "RATE/S", true },
	{ "GPU%", true },     { "SWITCHES", true }, { "SUSPENDED%", true }, { "SLICE_US", true },
};

static void process_row(struct libscols_table *t, const struct sim_result *r,
			const struct sim_process_result *p)
{
	static const char *const metrics[] = { "p50_us", "p90_us",    "p99_us",   "max_us",
					       "rate",   "share_pct", "switches", "suspended_pct" };
	struct libscols_line *line = scols_table_new_line(t, NULL);
	char name[SIM_NAME_LEN + 16];
	double v = 0;

	if (!line)
		return;
	target_of(p, name, sizeof(name));
	scols_line_set_data(line, 0, name);
	scols_line_set_data(line, 1, p->group->class_name);
	cell(line, 2, true, "%.0f", p->gpu);
	for (size_t i = 0; i < GS_COUNT(metrics); i++) {
		bool known = metric_of(r, p, metrics[i], &v) == 0;

		cell(line, 3 + i, known, i == 5 || i == 7 ? "%.1f" : "%.0f", v);
	}
	cell(line, 11, p->is.timeslice_us != 0, "%.0f", p->is.timeslice_us);
}

#define MAX_ROWS 24u /* more processes than this are summed up by the JSON output alone */

static int print_processes(const struct sim_result *r, FILE *out)
{
	CLEANUP(unref_table)
	struct libscols_table *t = new_table(process_columns, GS_COUNT(process_columns), out);

	if (!t)
		return -ENOMEM;
	for (size_t i = 0; i < r->nprocesses && i < MAX_ROWS; i++)
		process_row(t, r, &r->processes[i]);
	scols_print_table(t);
	if (r->nprocesses > MAX_ROWS)
		fprintf(out, "(%zu more processes: see --json)\n", r->nprocesses - MAX_ROWS);
	return 0;
}

static const struct column check_columns[] = {
	{ "SCENARIO", false }, { "BASIS", false }, { "CHECK", false },
	{ "MODEL", true },     { "OFF_BY", true }, { "RESULT", false },
};

static void check_rows(struct libscols_table *t, const struct sim_result *r)
{
	const struct sim_scenario *s = r->scenario;

	for (size_t i = 0; i < s->nchecks; i++) {
		const struct sim_check *c = &s->checks[i];
		const struct sim_check_result *o = &r->checks[i];
		struct libscols_line *line = scols_table_new_line(t, NULL);
		bool off = c->op == SIM_CHECK_REFERENCE && o->known && c->limit;

		if (!line)
			return;
		scols_line_set_data(line, 0, s->name);
		scols_line_set_data(line, 1, s->basis);
		scols_line_set_data(line, 2, c->text);
		cell(line, 3, o->known, fabs(o->value) < 10 ? "%.3g" : "%.0f", o->value);
		cell(line, 4, off, "%+.1f%%", off ? 100 * (o->value / c->limit - 1) : 0);
		scols_line_set_data(line, 5, o->ok ? "ok" : c->missed ? "missed" : "FAILED");
	}
}

int sim_report_checks(const struct sim_result *r, FILE *out)
{
	CLEANUP(unref_table)
	struct libscols_table *t = new_table(check_columns, GS_COUNT(check_columns), out);

	if (!t)
		return -ENOMEM;
	check_rows(t, r);
	scols_print_table(t);
	return 0;
}

/* What the laws had to say. */
static void print_engine(const struct sim_result *r, FILE *out)
{
	for (int i = GS_ENG_CALL_NS + 1; i < GS_ENG_MAX; i++)
		if (r->engine[i])
			fprintf(out, "%s %llu: %s\n", gs_engine_counter_name(i),
				(unsigned long long)r->engine[i], gs_engine_counter_text(i));
}

int sim_report_table(const struct sim_result *r, FILE *out)
{
	int err;

	fprintf(out, "%s: %s\n", r->scenario->name, r->scenario->title);
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
