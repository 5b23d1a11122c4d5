// SPDX-License-Identifier: MIT
/* Counters and gauges, as JSON and as OpenMetrics text. */
#include <inttypes.h>
#include <string.h>

#include "basic/cleanup.h"
#include "process/reader.h"
#include "service/internal.h"
#include "taps/taps.h"

struct counter {
	const char *name, *text;
};

static const struct counter tap_counters[] = {
#define X(sym, name, text) { name, text },
	GPUSCHED_TAP_COUNTERS(X)
#undef X
};
static const struct counter service_counters[] = {
#define X(sym, name, text) { name, text },
	GS_SERVICE_COUNTERS(X)
#undef X
};

/* ---- JSON ------------------------------------------------------------------------------------ */

static json_t *counters_json(const struct counter *names, const uint64_t *values, size_t n)
{
	json_t *o = json_object();

	for (size_t i = 0; i < n; i++)
		json_object_set_new(o, names[i].name, json_integer((json_int_t)values[i]));
	return o;
}

static json_t *engine_json(const struct gs_engine *e)
{
	json_t *o = json_object();

	for (int i = 0; i < GS_ENG_MAX; i++)
		json_object_set_new(o, gs_engine_counter_name(i),
				    json_integer((json_int_t)gs_engine_counter(e, i)));
	return o;
}

static json_t *account_json(const struct gs_account *a)
{
	json_t *o = json_object();

	for (int i = 0; i < GS_ACC_MAX; i++)
		json_object_set_new(o, gs_account_counter_name(i),
				    json_integer((json_int_t)gs_account_counter(a, i)));
	return o;
}

static json_t *calls_json(const struct gs_service *s)
{
	json_t *o = json_object();

	for (int i = 0; i < GS_RM_OP_MAX; i++) {
		const struct gs_call_stats *c = &s->calls[i];

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

/* By class, since this instance began, as far as they were counted. */
static void launches_by_class(const struct gs_service *s, uint64_t ret[GPUSCHED_MAX_CLASSES])
{
	memcpy(ret, s->launched, sizeof(s->launched));
	if (s->launches)
		gs_launches_by_class(s->launches, ret);
}

static const char *class_label(const struct gs_service *s, uint32_t id)
{
	const char *name = id ? gs_class_name(s->classes, id) : NULL;

	return name ? name : "";
}

static json_t *launches_json(const struct gs_service *s)
{
	uint64_t n[GPUSCHED_MAX_CLASSES];
	json_t *o = json_object();

	launches_by_class(s, n);
	for (uint32_t i = 0; i < GPUSCHED_MAX_CLASSES; i++)
		if (n[i])
			json_object_set_new(o, i ? class_label(s, i) : "none",
					    json_integer((json_int_t)n[i]));
	return o;
}

static const uint64_t *service_values(struct gs_service *s)
{
	s->counters[GS_SVC_READS_LEFT] = gs_reader_left();
	return s->counters;
}

json_t *gs_stats_json(struct gs_service *s, struct gs_error *err)
{
	struct gs_taps_status st = { 0 };
	json_t *o;

	if (gs_taps_status(&st, err))
		return NULL;
	o = json_object();
	json_object_set_new(o, "tsgs", json_integer(st.tsgs));
	json_object_set_new(o, "processes", json_integer(st.procs));
	json_object_set_new(o, "gpus", json_integer((json_int_t)s->ngpus));
	json_object_set_new(o, "driver_branch", json_integer(s->branch));
	json_object_set_new(o, "daemon", json_boolean(s->opts.daemon));
	json_object_set_new(o, "dry_run", json_boolean(s->opts.dry_run));
	json_object_set_new(o, "policy",
			    s->p ? json_string(gs_policy_running(s->p)->name) : json_null());
	json_object_set_new(o, "taps",
			    counters_json(tap_counters, st.counters, GS_COUNT(tap_counters)));
	json_object_set_new(o, "engine", s->e ? engine_json(s->e) : json_null());
	json_object_set_new(o, "calls", s->e ? calls_json(s) : json_null());
	json_object_set_new(o, "launches", launches_json(s));
	gs_sight_flush(s);
	json_object_set_new(o, "gpu_time", gs_sight_gpus_json(s));
	json_object_set_new(o, "account", s->account ? account_json(s->account) : json_null());
	json_object_set_new(o, "service",
			    counters_json(service_counters, service_values(s), GS_SVC_MAX));
	return o;
}

/* ---- OpenMetrics ----------------------------------------------------------------------------- */

static void counter_text(FILE *f, const char *prefix, const struct counter *c, uint64_t value)
{
	fprintf(f, "# TYPE gpusched_%s_%s counter\n# HELP gpusched_%s_%s %s\n", prefix, c->name,
		prefix, c->name, c->text);
	fprintf(f, "gpusched_%s_%s_total %" PRIu64 "\n", prefix, c->name, value);
}

static void engine_text(const struct gs_engine *e, FILE *f)
{
	for (int i = 0; i < GS_ENG_MAX; i++) {
		const struct counter c = { gs_engine_counter_name(i), gs_engine_counter_text(i) };

		if (i != GS_ENG_CALL_NS)
			counter_text(f, "engine", &c, gs_engine_counter(e, i));
	}
	fprintf(f,
		"# TYPE gpusched_engine_call_seconds counter\n"
		"# UNIT gpusched_engine_call_seconds seconds\n"
		"# HELP gpusched_engine_call_seconds time spent in RM calls\n"
		"gpusched_engine_call_seconds_total %.9f\n",
		(double)gs_engine_counter(e, GS_ENG_CALL_NS) / 1e9);
}

static void calls_text(const struct gs_service *s, FILE *f)
{
	fprintf(f, "# TYPE gpusched_calls counter\n# HELP gpusched_calls RM calls by operation\n");
	for (int i = 0; i < GS_RM_OP_MAX; i++)
		fprintf(f, "gpusched_calls_total{op=\"%s\"} %" PRIu64 "\n", gs_rm_op_name(i),
			s->calls[i].count);
}

static void seconds_text(struct gs_service *s, FILE *f, const char *name, const char *text,
			 size_t offset)
{
	fprintf(f,
		"# TYPE gpusched_gpu_%s_seconds counter\n"
		"# UNIT gpusched_gpu_%s_seconds seconds\n"
		"# HELP gpusched_gpu_%s_seconds %s\n",
		name, name, name, text);
	for (size_t i = 0; i < s->ngpus; i++) {
		struct gs_account_gpu g;
		uint64_t ns;

		gs_account_gpu(s->account, s->gpus[i].index, &g);
		memcpy(&ns, (const char *)&g.sums + offset, sizeof(ns));
		if (g.open)
			fprintf(f, "gpusched_gpu_%s_seconds_total{gpu=\"%u\",UUID=\"%s\"} %.9f\n",
				name, s->gpus[i].index, s->gpus[i].uuid, (double)ns / 1e9);
	}
}

static void gpu_time_text(struct gs_service *s, FILE *f)
{
	if (!s->account)
		return;
	gs_sight_flush(s);
	seconds_text(s, f, "held", "time in which a program's context was loaded",
		     offsetof(struct gs_runlist_sums, held_ns));
	seconds_text(s, f, "lost", "time between two programs' turns, below 1 ms",
		     offsetof(struct gs_runlist_sums, lost_ns));
	seconds_text(s, f, "open", "time in which no context was loaded",
		     offsetof(struct gs_runlist_sums, open_ns));
	seconds_text(s, f, "unknown", "time around lost records",
		     offsetof(struct gs_runlist_sums, unknown_ns));
}

/* TSGs by GPU, class and kind: no label per process, or the number of series had no bound. */
static void tsgs_text(struct gs_service *s, FILE *f)
{
	static const struct gs_target all = { .n = 0 };
	CLEANUP_FREE struct gpusched_tsg *recs = NULL;
	CLEANUP_FREE uint32_t *counts = NULL;
	size_t n = 0, slots = (s->ngpus + 1) * GPUSCHED_MAX_CLASSES * 3, suspended = 0;

	counts = calloc(slots, sizeof(*counts));
	if (!counts || gs_records(s, &all, &recs, &n, NULL))
		return;
	for (size_t i = 0; i < n; i++) {
		const struct gs_gpu *gpu = gs_record_gpu(s, &recs[i]);
		size_t g = gpu ? (size_t)(gpu - s->gpus) : s->ngpus;

		counts[(g * GPUSCHED_MAX_CLASSES + recs[i].task.class_id % GPUSCHED_MAX_CLASSES) *
			       3 +
		       recs[i].task.kind % 3]++;
		suspended += recs[i].suspend_by != GPUSCHED_BY_NOBODY;
	}
	fprintf(f, "# TYPE gpusched_tsgs gauge\n# HELP gpusched_tsgs TSGs in the table\n");
	for (size_t i = 0; i < slots; i++) {
		size_t g = i / 3 / GPUSCHED_MAX_CLASSES;
		if (!counts[i])
			continue;
		if (g < s->ngpus)
			fprintf(f, "gpusched_tsgs{gpu=\"%u\",uuid=\"%s\",", s->gpus[g].index,
				s->gpus[g].uuid);
		else
			fprintf(f, "gpusched_tsgs{gpu=\"\",uuid=\"\",");
		fprintf(f, "class=\"%s\",kind=\"%s\"} %u\n",
			class_label(s, (uint32_t)(i / 3 % GPUSCHED_MAX_CLASSES)),
			gs_kind_name(i % 3), counts[i]);
	}
	fprintf(f,
		"# TYPE gpusched_tsgs_suspended gauge\n"
		"# HELP gpusched_tsgs_suspended TSGs whose channels are disabled\n"
		"gpusched_tsgs_suspended %zu\n",
		suspended);
}

static void launches_text(const struct gs_service *s, FILE *f)
{
	uint64_t n[GPUSCHED_MAX_CLASSES];

	launches_by_class(s, n);
	fprintf(f, "# TYPE gpusched_launches counter\n# HELP gpusched_launches launches on TSGs, "
		   "while they are counted, by the class that these had then\n");
	for (uint32_t i = 0; i < GPUSCHED_MAX_CLASSES; i++)
		if (n[i])
			fprintf(f, "gpusched_launches_total{class=\"%s\"} %" PRIu64 "\n",
				class_label(s, i), n[i]);
}

int gs_service_metrics(struct gs_service *s, char **ret_text)
{
	struct gs_taps_status st = { 0 };
	char *text = NULL;
	size_t size;
	FILE *f;

	if (gs_taps_status(&st, NULL))
		return -EIO;
	f = open_memstream(&text, &size);
	if (!f)
		return -ENOMEM;
	fprintf(f,
		"# TYPE gpusched info\n# HELP gpusched version of gpusched\n"
		"gpusched_info{version=\"%s\"} 1\n",
		GPUSCHED_VERSION);
	for (size_t i = 0; i < GS_COUNT(tap_counters); i++)
		counter_text(f, "taps", &tap_counters[i], st.counters[i]);
	for (size_t i = 0; i < GS_COUNT(service_counters); i++)
		counter_text(f, "service", &service_counters[i], service_values(s)[i]);
	if (s->e)
		engine_text(s->e, f);
	for (int i = 0; s->account && i < GS_ACC_MAX; i++) {
		const struct counter c = { gs_account_counter_name(i), gs_account_counter_text(i) };

		counter_text(f, "account", &c, gs_account_counter(s->account, i));
	}
	calls_text(s, f);
	gpu_time_text(s, f);
	tsgs_text(s, f);
	launches_text(s, f);
	fprintf(f, "# TYPE gpusched_policy gauge\n# HELP gpusched_policy the running policy\n");
	if (s->p)
		fprintf(f, "gpusched_policy{policy=\"%s\"} 1\n", gs_policy_running(s->p)->name);
	if (fclose(f)) {
		free(text);
		return -ENOMEM;
	}
	*ret_text = text;
	return 0;
}
