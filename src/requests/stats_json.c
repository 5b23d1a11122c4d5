// SPDX-License-Identifier: MIT
/* stats_json.c - writes counters and gauges as JSON and as OpenMetrics text */
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "process/reader.h"
#include "control/agents.h"
#include "process/pod_names.h"
#include "requests/requests.h"
#include "hub/json.h"
#include "hub/lanes.h"
#include "control/policy.h"
#include "figures/gpu_time.h"
#include "table/events.h"
#include "taps/taps.h"
#include "requests/json.h"
#include "figures/ledger.h"
#include "figures/openmetrics.h"
#include "figures/window.h"

/*
 * All plain counters by group. JSON and OpenMetrics both print these tables. A counter with a name
 * that ends in _ns is a time; OpenMetrics gets it in seconds.
 */
struct counter {
	const char *name, *text;
};

#define X(sym, name, text) { name, text },
static const struct counter tap_counters[] = { GPUSCHED_TAP_COUNTERS(X) };
static const struct counter engine_counters[] = { GS_ENGINE_COUNTERS(X) };
static const struct counter account_counters[] = { GS_ACCOUNT_COUNTERS(X) };
static const struct counter history_counters[] = { GS_HISTORY_COUNTERS(X) };
static const struct counter service_counters[] = { GS_SERVICE_COUNTERS(X) };
#undef X

enum group { TAPS, ENGINE, ACCOUNT, HISTORY, SERVICE, GROUPS };
static const struct {
	const char *name;
	const struct counter *counters;
	size_t n;
} groups[GROUPS] = {
	[TAPS] = { "taps", tap_counters, GS_COUNT(tap_counters) },
	[ENGINE] = { "engine", engine_counters, GS_COUNT(engine_counters) },
	[ACCOUNT] = { "account", account_counters, GS_COUNT(account_counters) },
	[HISTORY] = { "history", history_counters, GS_COUNT(history_counters) },
	[SERVICE] = { "service", service_counters, GS_COUNT(service_counters) },
};

void gs_stats_print_counters(FILE *f)
{
	for (enum group g = 0; g < GROUPS; g++) {
		fputs("# ", f);
		for (const char *c = groups[g].name; *c; c++)
			fputc(toupper(*c), f);
		fputc('\n', f);
		for (size_t i = 0; i < groups[g].n; i++) {
			const struct counter *c = &groups[g].counters[i];

			fprintf(f, "\n*%s*\n\t%c%s.\n", c->name, toupper(c->text[0]), c->text + 1);
		}
		fputc('\n', f);
	}
}

/* True if this instance runs the component that the counters of group @g belong to. */
static bool is_there(const struct gs_requests *rs, enum group g)
{
	return g == ENGINE    ? rs->hub->engine != NULL
	       : g == ACCOUNT ? rs->hub->account != NULL
	       : g == HISTORY ? gs_ledger_history(rs->figures) != NULL
			      : true;
}

/* @taps: the values of all tap counters. */
static uint64_t value_of(const struct gs_requests *rs, const uint64_t *taps, enum group g,
			 unsigned int i)
{
	if (g == SERVICE && i == GS_SVC_READS_LEFT)
		return gs_reader_left();
	if (g == SERVICE && i == GS_SVC_LANES_LEFT)
		return gs_lanes_left();
	if (g == SERVICE && i == GS_SVC_PODS_LEFT)
		return gs_pods_left();
	if (g == SERVICE && i == GS_SVC_KICKS)
		return rs->hub->counters[i] + gs_service_policy_kicks(rs->control, NULL);
	if (g == SERVICE && i == GS_SVC_KICKS_LEFT) {
		uint64_t left;

		gs_service_policy_kicks(rs->control, &left);
		return rs->hub->counters[i] + left;
	}
	return g == TAPS      ? taps[i]
	       : g == ENGINE  ? gs_engine_counter(rs->hub->engine, i)
	       : g == ACCOUNT ? gs_account_counter(rs->hub->account, i)
	       : g == HISTORY ? gs_history_counter(gs_ledger_history(rs->figures), i)
			      : rs->hub->counters[i];
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static json_t *group_json(const struct gs_requests *rs, const struct gs_taps_status *st,
			  enum group g)
{
	json_t *o = is_there(rs, g) ? json_object() : json_null();

	for (unsigned int i = 0; is_there(rs, g) && i < groups[g].n; i++)
		json_object_set_new(o, groups[g].counters[i].name,
				    json_integer((json_int_t)value_of(rs, st->counters, g, i)));
	return o;
}

static json_t *calls_json(const struct gs_requests *rs)
{
	json_t *o = json_object();

	for (int i = 0; i < GS_RM_OP_MAX; i++) {
		const struct gs_call_stats *c = &rs->figures->calls[i];

		json_object_set_new(
			o, gs_rm_op_name(i),
			json_pack("{s:I, s:I, s:o, s:o}", "count", (json_int_t)c->count, "failed",
				  (json_int_t)c->failed, "mean_us",
				  c->count ? json_real((double)c->ns / (double)c->count / 1e3)
					   : json_null(),
				  "max_us",
				  c->count ? json_real((double)c->max_ns / 1e3) : json_null()));
	}
	return o;
}

/* Adds up launches by class since this instance began; only those during launch counting. */
static void launches_by_class(const struct gs_requests *rs, uint64_t ret[GPUSCHED_MAX_CLASSES])
{
	memcpy(ret, rs->control->launched, sizeof(rs->control->launched));
	if (rs->hub->launches)
		gs_launches_by_class(rs->hub->launches, ret);
	if (rs->control->ending)
		gs_launches_by_class(rs->control->ending, ret);
}

const char *gs_stats_class(const struct gs_requests *rs, uint32_t id)
{
	const char *name = id ? gs_class_name(rs->hub->classes, id) : NULL;

	return name ? name : "";
}

static json_t *by_class_json(const struct gs_requests *rs, const uint64_t n[GPUSCHED_MAX_CLASSES])
{
	json_t *o = json_object();

	for (uint32_t i = 0; i < GPUSCHED_MAX_CLASSES; i++)
		if (n[i])
			json_object_set_new(o, i ? gs_stats_class(rs, i) : "none",
					    json_integer((json_int_t)n[i]));
	return o;
}

static json_t *pace_json(const struct gs_pace *t)
{
	return json_pack("{s:I, s:I, s:o}", "longest_turn_us",
			 (json_int_t)(t->longest_ns / NS_PER_US), "longest_turn_cpu_us",
			 (json_int_t)(t->longest_cpu_ns / NS_PER_US), "longest_turn_own_us",
			 t->own_known ? json_integer((json_int_t)(t->longest_own_ns / NS_PER_US))
				      : json_null());
}

/* The values are null if no request had a deadline and a known begin and end. */
static void deadlines_json(const struct gs_requests *rs, json_t *o)
{
	struct gs_deadlines d = { 0 };
	bool known = gs_ledger_all_deadlines(rs->figures, &d);

	gs_json_put_number(o, "deadline_requests", known, d.requests);
	gs_json_put_number(o, "deadline_missed", known, d.missed);
	gs_json_put_number(o, "deadline_worst_late_us", known, d.worst_ns / NS_PER_US);
}

json_t *gs_stats_json(struct gs_requests *rs, struct gs_error *err)
{
	uint64_t n[GPUSCHED_MAX_CLASSES], told[GPUSCHED_MAX_CLASSES] = { 0 };
	struct gs_taps_status st = { 0 };
	json_t *o;

	if (gs_taps_status(&st, err))
		return NULL;
	launches_by_class(rs, n);
	gs_agents_by_class(rs->control, told);
	o = json_object();
	json_object_set_new(o, "tsgs", json_integer(st.tsgs));
	json_object_set_new(o, "processes", json_integer(st.procs));
	json_object_set_new(o, "gpus", json_integer((json_int_t)rs->hub->ngpus));
	json_object_set_new(o, "driver_branch", json_integer(rs->hub->branch));
	json_object_set_new(o, "daemon", json_boolean(rs->hub->opts.daemon));
	json_object_set_new(o, "dry_run", json_boolean(rs->hub->opts.dry_run));
	gs_json_put_text(o, "policy",
			 rs->hub->policy ? gs_policy_running(rs->hub->policy)->name : NULL);
	gs_json_put(o, "calls", rs->hub->engine ? calls_json(rs) : NULL);
	json_object_set_new(o, "launches", by_class_json(rs, n));
	json_object_set_new(o, "launches_told", by_class_json(rs, told));
	deadlines_json(rs, o);
	gs_gpu_time_flush(rs->figures);
	json_object_set_new(o, "gpu_time", gs_gpu_time_gpus_json(rs->figures));
	gs_window_stats_json(rs->figures, o);
	for (enum group g = 0; g < GROUPS; g++)
		json_object_set_new(o, groups[g].name, group_json(rs, &st, g));
	json_object_update_new(json_object_get(o, "service"), pace_json(&rs->hub->pace));
	return o;
}

/* ---- OpenMetrics ----------------------------------------------------------------------------- */

static void counter_text(FILE *f, const char *group, const struct counter *c, uint64_t value)
{
	size_t n = strlen(c->name);
	bool time = n > 3 && !strcmp(c->name + n - 3, "_ns");
	char name[64];

	snprintf(name, sizeof(name), "%s_%.*s%s", group, (int)(time ? n - 3 : n), c->name,
		 time ? "_seconds" : "");
	gs_openmetrics_head(f, name, "counter", c->text);
	if (time)
		fprintf(f, "gpusched_%s_total %.9f\n", name, (double)value / 1e9);
	else
		fprintf(f, "gpusched_%s_total %" PRIu64 "\n", name, value);
}

static void gauge_text(FILE *f, const char *name, const char *text, uint64_t ns)
{
	gs_openmetrics_head(f, name, "gauge", text);
	fprintf(f, "gpusched_%s %.6f\n", name, (double)ns / 1e9);
}

static void pace_text(const struct gs_requests *rs, FILE *f)
{
	const struct gs_pace *t = &rs->hub->pace;

	gauge_text(f, "service_longest_turn_seconds", "longest turn of the event loop so far",
		   t->longest_ns);
	gauge_text(f, "service_longest_turn_cpu_seconds",
		   "most CPU time of one turn of the event loop so far", t->longest_cpu_ns);
	if (t->own_known)
		gauge_text(f, "service_longest_turn_own_seconds",
			   "longest turn of the event loop so far, without waits for a processor",
			   t->longest_own_ns);
}

static void groups_text(const struct gs_requests *rs, FILE *f)
{
	uint64_t taps[GPUSCHED_CNT_MAX] = { 0 };

	for (unsigned int i = 0; i < groups[TAPS].n; i++)
		gs_events_counter(rs->hub->table, i, &taps[i]);
	for (enum group g = 0; g < GROUPS; g++)
		for (unsigned int i = 0; is_there(rs, g) && i < groups[g].n; i++)
			counter_text(f, groups[g].name, &groups[g].counters[i],
				     value_of(rs, taps, g, i));
}

static void calls_text(const struct gs_requests *rs, FILE *f)
{
	gs_openmetrics_head(f, "calls", "counter", "RM calls by operation");
	for (int i = 0; i < GS_RM_OP_MAX; i++)
		fprintf(f, "gpusched_calls_total{op=\"%s\"} %" PRIu64 "\n", gs_rm_op_name(i),
			rs->figures->calls[i].count);
}

static void by_class_text(const struct gs_requests *rs, const char *name, const char *help,
			  const uint64_t n[GPUSCHED_MAX_CLASSES], FILE *f)
{
	gs_openmetrics_head(f, name, "counter", help);
	for (uint32_t i = 0; i < GPUSCHED_MAX_CLASSES; i++)
		if (n[i])
			fprintf(f, "gpusched_%s_total{class=\"%s\"} %" PRIu64 "\n", name,
				gs_stats_class(rs, i), n[i]);
}

void gs_stats_launches_text(struct gs_requests *rs, FILE *f)
{
	uint64_t n[GPUSCHED_MAX_CLASSES], told[GPUSCHED_MAX_CLASSES] = { 0 };

	launches_by_class(rs, n);
	gs_agents_by_class(rs->control, told);
	by_class_text(rs, "launches",
		      "launches on TSGs, while they are counted, by the class that these had then",
		      n, f);
	by_class_text(rs, "launches_told", "launches that programs' own agents counted, as told",
		      told, f);
}

void gs_stats_text(struct gs_requests *rs, FILE *f)
{
	struct gs_deadlines d;

	fprintf(f,
		"# TYPE gpusched info\n# HELP gpusched version of gpusched\n"
		"gpusched_info{version=\"%s\"} 1\n",
		GPUSCHED_VERSION);
	groups_text(rs, f);
	pace_text(rs, f);
	if (gs_ledger_all_deadlines(rs->figures, &d))
		gauge_text(f, "deadline_worst_late_seconds",
			   "how long after its deadline a request ended at worst so far",
			   d.worst_ns);
	calls_text(rs, f);
}
