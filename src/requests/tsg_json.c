// SPDX-License-Identifier: MIT
/* tsg_json.c - converts records to JSON, as docs/api.md describes it; null: unknown */
#include <stdio.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/clock.h"

#include "wire/agent.h"
#include "control/agents.h"
#include "control/counted_requests.h"
#include "control/harm.h"
#include "control/told_requests.h"
#include "engine/held.h"
#include "intake/hardware.h"
#include "requests/requests.h"
#include "hub/json.h"
#include "hub/records.h"
#include "figures/gpu_time.h"
#include "figures/ledger.h"
#include "figures/memory.h"
#include "figures/request_costs.h"
#include "process/pod_names.h"
#include "rm/way.h"
#include "table/events.h"
#include "table/facts.h"
#include "table/past.h"
#include "table/procs.h"
#include "requests/json.h"

static json_t *assumed_json(uint32_t assumed)
{
	json_t *list = json_array();

	for (unsigned int i = 0; i < GS_NFIELDS; i++)
		if (assumed & GS_BIT(i))
			json_array_append_new(list, json_string(gs_settings[i].key));
	return list;
}

/* Adds the runlist's number as policies see it, from gpusched_runlist(). */
static void put_runlist(const struct gpusched_tsg *rec, json_t *o)
{
	gs_json_put_number(o, "runlist", rec->task.gpu != GPUSCHED_GPU_UNKNOWN,
			   gpusched_runlist(&rec->task));
}

/*
 * The source of the TSG's class according to the table. If the table has none and no daemon runs,
 * classifies the process anew.
 */
static const char *source_of(struct gs_requests *rs, const struct gpusched_tsg *rec)
{
	struct gpusched_proc proc;
	struct gs_class_answer answer;

	if (!gs_proc_get(rs->hub->table, (pid_t)rec->task.pid, &proc) &&
	    (proc.source >= GPUSCHED_SRC_COMMAND || proc.class_id == rec->task.class_id))
		return gs_source_name(proc.source);
	if (rs->hub->opts.daemon || gs_record_classify(rs->hub, (pid_t)rec->task.pid, &answer))
		return NULL;
	return gs_source_name(answer.source);
}

static void put_class(struct gs_requests *rs, const struct gpusched_tsg *rec, json_t *o)
{
	bool has = rs && rec->task.class_id;

	gs_json_put_text(o, "class",
			 has ? gs_class_name(rs->hub->classes, rec->task.class_id) : NULL);
	gs_json_put_text(o, "class_source", has ? source_of(rs, rec) : NULL);
}

static void add_past(uint32_t past, char *text, size_t size)
{
	size_t at = strlen(text);

	if (past)
		snprintf(
			text + at, size - at,
			"%sits process is past its share of the table by %u places, and comes last",
			at ? "; " : "", past);
}

/* Id of the TSG with the request for which this TSG is suspended; 0: none, or unknown. */
static uint64_t held_for(const struct gs_requests *rs, const struct gpusched_tsg *rec)
{
	return rec->suspend_by == GPUSCHED_BY_REQUEST && rs && rs->hub->engine
		       ? gs_engine_holder(rs->hub->engine, rec)
		       : 0;
}

/* True if the policy acts on requests, and this LC program reports none. */
static bool is_unheard(const struct gs_requests *rs, const struct gpusched_tsg *rec)
{
	return rs && rs->hub->policy && rec->task.class_id == GPUSCHED_CLASS_LC &&
	       rec->task.kind == GPUSCHED_KIND_COMPUTE &&
	       strstr(gs_policy_running(rs->hub->policy)->callbacks, "request_begin") &&
	       !gs_requests_of(rs->control, rec);
}

/* Adds the reason why the TSG does not run, or does not have the settings that were set for it. */
static void put_reason(struct gs_requests *rs, const struct gpusched_tsg *rec, uint32_t past,
		       json_t *o)
{
	const char *policy =
		rs && rs->hub->policy ? gs_policy_running(rs->hub->policy)->name : NULL;
	bool held = rec->flags & GPUSCHED_TSG_HELD, gate = held && gs_at_gate(rec);
	const char *unreachable = gs_rm_borrow_unreachable((pid_t)rec->task.pid);
	char text[GS_REASON_LEN] = "";
	uint32_t overruled = 0;

	if (held)
		snprintf(text, sizeof(text), "%s until policy %s admits it, or for %g s",
			 gate ? "its process is stopped at the gate" : "waits",
			 policy ? policy : "(no daemon)",
			 rs ? rs->hub->config->hold_limit_ms / 1e3 : 0);
	else if (rec->suspend_by == GPUSCHED_BY_POLICY)
		snprintf(text, sizeof(text), "policy %s suspended it", policy ? policy : "");
	else if (rec->suspend_by == GPUSCHED_BY_PERSON)
		snprintf(text, sizeof(text), "a person suspended it%s",
			 rec->suspend_until_ns ? " for a while" : "");
	else if (rec->suspend_by == GPUSCHED_BY_REQUEST)
		snprintf(text, sizeof(text), "paused for another program's request");
	else if (rec->suspend_by == GPUSCHED_BY_BUDGET)
		snprintf(text, sizeof(text),
			 "its GPU time is used up, see 'gpusched budget': it runs when nobody else "
			 "does, or not at all");
	else if (rec->flags & GPUSCHED_TSG_ALIAS)
		snprintf(text, sizeof(text), "an MPS server under another handle");
	else if (rec->flags & GPUSCHED_TSG_IN_FLIGHT)
		snprintf(text, sizeof(text), "no process holds its file: nobody can call it");
	if (rs && rs->hub->engine)
		overruled = gs_engine_overruled(rs->hub->engine, &rec->key);
	gs_event_overrules_text(overruled, text, sizeof(text));
	if (is_unheard(rs, rec))
		snprintf(text + strlen(text), sizeof(text) - strlen(text),
			 "%sits requests are not seen, so nobody is paused for them: start it by "
			 "'gpusched run --class lc'",
			 text[0] ? "; " : "");
	add_past(past, text, sizeof(text));
	if (unreachable)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s",
			 text[0] ? "; " : "", unreachable);
	gs_json_put_text(o, "held_by", held ? policy : NULL);
	gs_json_put_text(o, "held_how", gate ? "gate" : held ? "suspension" : NULL);
	gs_json_put_text(o, "reason", text);
	gs_json_put(o, "overruled", json_boolean(overruled));
}

static bool was_restored(struct gs_requests *rs, const struct gpusched_tsg *rec)
{
	struct gpusched_proc proc;

	return rs && !gs_proc_get(rs->hub->table, (pid_t)rec->task.pid, &proc) && proc.restored;
}

/* Adds the MIG partition; null if the TSG is in none, or if that is unknown. */
static void put_partition(const struct gpusched_tsg *rec, json_t *o)
{
	uint32_t gi = gpusched_gpu_instance(rec->task.engine);
	uint32_t ci = gpusched_compute_instance(rec->task.engine);

	gs_json_put(o, "mig", json_boolean(rec->flags & GPUSCHED_TSG_MIG));
	gs_json_put_number(o, "gpu_instance", gi != GPUSCHED_NO_INSTANCE, gi);
	gs_json_put_number(o, "compute_instance", ci != GPUSCHED_NO_INSTANCE, ci);
}

static void put_state(struct gs_requests *rs, const struct gpusched_tsg *rec, json_t *o)
{
	static const char *const by[] = {
		NULL, "policy", "person", "admission", "request", "budget"
	};
	const char *status = gs_rm_status_name(rec->last_status);
	const struct gs_saved_tsg *kept =
		rs && rec->manual.valid ? gs_saved_find(&rs->control->saved, rec->task.id) : NULL;
	uint32_t past = rs ? gs_past_of(rs->hub->table, (pid_t)rec->task.pid) : 0;
	uint64_t apart = rs ? gs_harm_until(rs->control, rec->task.id) : 0;

	gs_json_put_text(o, "known_by", rec->flags & GPUSCHED_TSG_ADOPTED ? "scan" : "tap");
	gs_json_put(o, "assumed", assumed_json(rec->task.assumed));
	gs_json_put_handle(o, "client", rec->key.client);
	gs_json_put_handle(o, "tsg", rec->key.handle);
	gs_json_put_number(o, "channels", true, rec->nchannels);
	gs_json_put(o, "scheduled", json_boolean(rec->flags & GPUSCHED_TSG_SCHEDULED));
	gs_json_put(o, "mps", json_boolean(rec->flags & GPUSCHED_TSG_MPS));
	gs_json_put(o, "pool", gs_pool_json(rs ? rs->intake : NULL, (pid_t)rec->task.pid));
	put_partition(rec, o);
	gs_json_put(o, "held", json_boolean(rec->flags & GPUSCHED_TSG_HELD));
	gs_json_put(o, "in_flight", json_boolean(rec->flags & GPUSCHED_TSG_IN_FLIGHT));
	gs_json_put_number(o, "past_share", rs, past);
	gs_json_put(o, "restored", json_boolean(was_restored(rs, rec)));
	put_reason(rs, rec, past, o);
	gs_json_put_text(o, "suspended_by",
			 rec->suspend_by < GS_COUNT(by) ? by[rec->suspend_by] : NULL);
	gs_json_put_number(o, "suspended_by_uid", kept && rec->suspend_by == GPUSCHED_BY_PERSON,
			   kept ? kept->suspended_by : 0);
	gs_json_put_number(o, "held_for", held_for(rs, rec) != 0, held_for(rs, rec));
	gs_json_put_number(o, "suspended_since_ns", rec->suspended_ns != 0, rec->suspended_ns);
	gs_json_put_number(o, "suspended_until_ns", rec->suspend_until_ns != 0,
			   rec->suspend_until_ns);
	gs_json_put_number(o, "quarantine_until_ns", apart != 0, apart);
	gs_json_put_number(o, "errors", true, rec->errors);
	gs_json_put_text(o, "last_error", rec->errors ? status : NULL);
	gs_json_put(o, "changed", json_boolean(rec->changed != 0));
	gs_json_put(o, "reapplied", json_boolean(kept && kept->reapplied));
}

/* Adds the percentages of a GPU that the TSG gets at most (limit) and at least (request). */
static void put_part(struct gs_requests *rs, const struct gpusched_tsg *rec, json_t *o)
{
	struct gpusched_limit limit = { 0 };
	struct gs_promise promise = { 0 };

	if (rs) {
		limit = gs_facts_get_limit(rs->hub->table, rec->task.id);
		promise = gs_facts_get_promise(rs->hub->table, rec->task.id);
	}
	gs_json_put_number(o, "limit_pct", limit.pct != 0, limit.pct);
	gs_json_put_number(o, "request_pct", promise.pct != 0, promise.pct);
	gs_json_put_number(o, "request_over_pct", promise.over_pct != 0, promise.over_pct);
}

static void put_facts(const struct gpusched_task *t, json_t *o)
{
	gs_json_put_number(o, "weight", true, t->weight);
	gs_json_put_number(o, "deadline_us", t->known & GPUSCHED_KNOWN_DEADLINE, t->deadline_us);
	gs_json_put_number(o, "created_ns", t->created_ns != 0, t->created_ns);
	gs_json_put_number(o, "launches", t->known & GPUSCHED_KNOWN_LAUNCHES, t->launches);
	gs_json_put_number(o, "launches_since_ns", t->known & GPUSCHED_KNOWN_LAUNCHES,
			   t->launches_since_ns);
	gs_json_put_number(o, "launch_rate_mhz", t->known & GPUSCHED_KNOWN_RATE,
			   gs_launch_rate_mhz(t, gs_now_ns()));
	/* null for now; gs_gpu_time_json() replaces them if it has figures */
	gs_json_put_number(o, "gpu_time_ns", false, 0);
	gs_json_put_number(o, "wait_time_ns", false, 0);
	gs_json_put_number(o, "switches", false, 0);
	gs_json_put_number(o, "last_run_ns", false, 0);
}

/* Adds counts of the process's requests, of those with a deadline and a known begin and end. */
static void put_deadlines(const struct gs_figures *fig, const struct gpusched_tsg *rec, json_t *o)
{
	struct gs_deadlines d = { 0 };
	bool known =
		fig && rec->task.kind == GPUSCHED_KIND_COMPUTE && gs_ledger_deadlines(fig, rec, &d);

	gs_json_put_number(o, "deadline_requests", known, d.requests);
	gs_json_put_number(o, "deadline_missed", known, d.missed);
	gs_json_put_number(o, "deadline_worst_late_us", known, d.worst_ns / NS_PER_US);
}

static void put_told(json_t *o, const char *key, uint64_t told)
{
	json_object_set_new(o, key, json_integer((json_int_t)(told & INT64_MAX)));
}

void gs_told_json(const struct gs_agent_facts *told, bool counted, json_t *o)
{
	const json_t *deadline;

	if (counted) {
		put_told(o, "launches", told->launches);
		json_object_set_new(o, "launches_told", json_true());
	}
	put_told(o, "hints", told->hints);
	put_told(o, "pre_switches", told->holds);
	put_told(o, "pre_switched_ns", told->held_ns);
	deadline = json_object_get(o, "deadline_us");
	if (!told->deadline_us || (!json_is_null(deadline) &&
				   (uint64_t)json_integer_value(deadline) != told->deadline_us))
		return;
	put_told(o, "deadline_us", told->deadline_us);
	json_object_set_new(o, "deadline_told", json_true());
}

static void put_requests(struct gs_told_requests *told, json_t *o)
{
	static const char *const by[] = {
		[GPUSCHED_REQUEST_HINT] = "hints",
		[GPUSCHED_REQUEST_AGENT] = "agent",
		[GPUSCHED_REQUEST_COUNT] = "launches",
	};
	uint32_t quiet_us = told ? gs_told_requests_quiet_us(told) : 0;

	if (!told)
		return;
	gs_json_put_number(o, "quiet_us", quiet_us != 0, quiet_us);
	gs_json_put(o, "in_request", json_boolean(gs_told_requests_open(told)));
	gs_json_put_text(o, "requests_by", by[gs_told_requests_from(told)]);
}

json_t *gs_tsg_json(struct gs_requests *rs, const struct gpusched_tsg *rec)
{
	const struct gpusched_settings is = gs_record_is(rec);
	uint32_t tid = rs ? gs_table_maker(rs->hub->table, rec).tid : 0;
	struct gs_agent_facts told;
	char engine[12];
	bool counted;
	json_t *o = json_object();

	gs_json_put_number(o, "id", true, rec->task.id);
	gs_json_put_gpu(rs ? rs->hub : NULL, rec, o);
	gs_json_put_number(o, "pid", true, rec->task.pid);
	gs_json_put_number(o, "tid", tid != 0, tid);
	gs_json_put_comm(o, rec->task.comm);
	gs_json_put_number(o, "uid", true, rec->task.uid);
	gs_json_put_number(o, "cgroup_id", rec->task.cgroup_id != 0, rec->task.cgroup_id);
	gs_json_put_text(o, "kind", gs_kind_name(rec->task.kind));
	gs_json_put_text(o, "engine", gs_engine_name(rec->task.engine, engine));
	put_runlist(rec, o);
	put_class(rs, rec, o);
	gs_json_put(o, "asked", gs_settings_json(&rec->task.asked));
	gs_json_put(o, "is", gs_settings_json(&is));
	gs_json_put(o, "want", gs_settings_json(&rec->task.want));
	gs_json_put(o, "manual", gs_settings_json(&rec->manual));
	put_state(rs, rec, o);
	put_part(rs, rec, o);
	put_facts(&rec->task, o);
	put_deadlines(rs ? rs->figures : NULL, rec, o);
	gs_request_costs_put(rs ? rs->figures : NULL, rec, o);
	gs_gpu_time_json(rs ? rs->figures : NULL, rec, o);
	gs_memory_tsg_json(rs ? rs->figures : NULL, rec, o);
	if (rs && gs_agents_told(rs->control, rec, &told, &counted))
		gs_told_json(&told, counted, o);
	if (rs)
		put_requests(gs_requests_of(rs->control, rec), o);
	return o;
}

void gs_tsg_json_pod(struct gs_requests *rs, const struct gpusched_tsg *rec, json_t *o)
{
	const struct gs_history_who *who = rs ? gs_ledger_who(rs->figures, rec->task.id) : NULL;
	char path[GS_CGROUP_PATH_LEN];
	struct gs_pod_names n = { 0 }, now = { 0 };

	if (!gs_cgroup_path((pid_t)rec->task.pid, path))
		gs_pod_names(path, &now);
	n = who ? who->pod : now;
	/* names stay; how the pod's claim shares the GPU may change */
	if (*now.uid && !strcmp(now.uid, n.uid))
		memcpy(n.sharing, now.sharing, sizeof(n.sharing));
	gs_json_put_text(o, "namespace", n.namespace);
	gs_json_put_text(o, "pod", n.pod);
	gs_json_put_text(o, "container", n.container);
	gs_json_put_text(o, "pod_uid", n.uid);
	gs_json_put_text(o, "sharing", n.sharing);
	gs_json_put_text(o, "job", who ? who->job : NULL);
}

void gs_tsg_json_wide(struct gs_requests *rs, const struct gpusched_tsg *rec, json_t *o)
{
	struct gpusched_channels ch = { 0 };
	json_t *list = json_array();
	uint32_t hw = 0;
	bool known = !gs_hardware_id(rs->intake, rec->task.id, &hw);

	gs_json_put_number(o, "hw_tsg", known, hw);
	if (gs_table_channels(rs->hub->table, &rec->key, &ch))
		ch.n = 0;
	for (uint32_t i = 0; i < ch.n && i < GPUSCHED_MAX_CHANNELS; i++) {
		json_t *one = json_object();

		gs_json_put_handle(one, "channel", ch.ch[i].handle);
		gs_json_put_number(one, "context_id", ch.ch[i].cid != 0, ch.ch[i].cid);
		json_array_append_new(list, one);
	}
	gs_json_put(o, "channel_list", list);
	gs_tsg_json_pod(rs, rec, o);
}
