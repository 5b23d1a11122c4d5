// SPDX-License-Identifier: MIT
/* verbs_info.c - handles list, stats and ping */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/env.h"
#include "hub/task.h"
#include "intake/hardware.h"
#include "requests/ended.h"
#include "requests/requests.h"
#include "hub/json.h"
#include "hub/loop.h"
#include "requests/selection.h"
#include "figures/gpu_time.h"
#include "requests/verbs.h"
#include "requests/verbs_park.h"
#include "requests/json.h"
#include "figures/ledger.h"
#include "park/times.h"
#include "policy/polmaps.h"

#define ASK_MS 2000u /* longest wait for RM to report hardware ids of TSGs */

/* ---- list ------------------------------------------------------------------------------------ */

struct listing {
	struct gs_selection sel;
	struct gs_task *asked; /* if @wide: asks RM for hardware ids of TSGs */
	size_t at;
	FILE *out;
	char *text;
	size_t size;
	bool wide, failed;
	struct gs_polmap says; /* if @wide: the policy's remarks on TSGs; fd -1: it has none */
};

static void listing_free(void *state)
{
	struct listing *l = state;

	if (l->out)
		fclose(l->out);
	gs_polmap_close(&l->says);
	gs_task_unref(l->asked);
	gs_selection_free(&l->sel);
	free(l->text);
	free(l);
}

static void put_wide(struct gs_request *rq, const struct listing *l, const struct gpusched_tsg *rec,
		     json_t *o)
{
	uint32_t hw;

	gs_tsg_json_wide(rq->rs, rec, o);
	json_object_set_new(o, "policy_says",
			    l->says.fd >= 0 ? gs_polmap_says(&l->says, rec->task.id) : json_null());
	if (gs_view_process(&rq->view, rec->task.uid) & GS_SEES_ALL &&
	    gs_hardware_id(rq->rs->intake, rec->task.id, &hw))
		gs_count(rq->rs->hub, GS_SVC_IDS_LEFT);
}

static void put_record(struct gs_request *rq, struct listing *l, const struct gpusched_tsg *rec)
{
	CLEANUP_JSON json_t *o = gs_tsg_json(rq->rs, rec);

	if (l->wide)
		put_wide(rq, l, rec, o);
	gs_view_row(&rq->view, rec, o);
	fputs(l->at ? "," : "{\"tsgs\":[", l->out);
	l->failed |= json_dumpf(o, l->out, JSON_COMPACT) != 0;
}

/*
 * True if an empty list is an error: the target names a TSG or process that does not exist. A
 * process without TSGs gives an empty list.
 */
static bool is_nothing(const struct gs_view *view, const struct gs_target *t)
{
	uid_t uid;

	return gs_target_kind(t) == GS_TARGET_TSG ||
	       (gs_target_kind(t) == GS_TARGET_PID &&
		gs_view_pid(view, (pid_t)t->part[0].number, &uid));
}

static int step_list(struct gs_request *rq, uint64_t now_ns)
{
	CLEANUP_JSON json_t *parked = NULL, *ended = NULL;
	struct listing *l = rq->state;

	for (; l->at < l->sel.n && gs_request_has_time(rq); l->at++)
		put_record(rq, l, &l->sel.recs[l->at]);
	rq->size = l->sel.n * sizeof(*l->sel.recs) + (size_t)ftello(l->out);
	if (l->at < l->sel.n)
		return -EINPROGRESS;
	if (!l->sel.n && is_nothing(&rq->view, &l->sel.target))
		return gs_selection_none(&rq->view, &l->sel.target, rq->err);
	parked = gs_parked_list_json(rq);
	fprintf(l->out, "%s],\"parked\":", l->sel.n ? "" : "{\"tsgs\":[");
	l->failed |= json_dumpf(parked, l->out, JSON_COMPACT) != 0;
	ended = gs_ended_of_target(rq, &l->sel.target);
	fputs(",\"ended\":", l->out);
	l->failed |= json_dumpf(ended, l->out, JSON_COMPACT) != 0;
	fprintf(l->out, ",\"dry_run\":%s,\"watch_only\":%s}",
		rq->rs->hub->opts.dry_run ? "true" : "false",
		rq->rs->hub->watch_only ? "true" : "false");
	l->failed |= fclose(l->out) != 0;
	l->out = NULL;
	if (l->failed)
		return -ENOMEM;
	rq->c.text = TAKE_PTR(l->text);
	return 0;
}

/*
 * Asks RM for the hardware ids that are still unknown. Only one request at a time can ask, so this
 * one first waits for others.
 */
static int step_ask(struct gs_request *rq, uint64_t now_ns)
{
	struct listing *l = rq->state;
	const uid_t *only = rq->view.others & GS_SEES_ALL ? NULL : &rq->view.uid;
	int r = 0;

	if (!l->asked && !rq->rs->intake->asking)
		r = gs_hardware_ask(rq->rs->intake, only, l->sel.recs, l->sel.n, &l->asked);
	if (r)
		return r;
	return (l->asked && l->asked->over) || gs_completion_is_late(&rq->c, now_ns)
		       ? gs_request_work(rq, step_list)
		       : -EINPROGRESS;
}

static int step_choose(struct gs_request *rq, uint64_t now_ns)
{
	const struct gs_policy *policy = rq->rs->hub->policy;
	struct listing *l = rq->state;
	int r = gs_selection_step(rq, &l->sel);

	if (r)
		return r;
	if (l->wide && policy) /* on failure, "policy_says" is null */
		gs_polmap_open_says(gs_policy_running(policy)->name, &l->says);
	return l->wide ? gs_request_wait(rq, step_ask, GS_ON_TASK, ASK_MS)
		       : gs_request_work(rq, step_list);
}

int gs_verb_list(struct gs_request *rq)
{
	struct listing *l = calloc(1, sizeof(*l));
	int r;

	if (!l)
		return -ENOMEM;
	rq->state = l;
	rq->free_state = listing_free;
	l->wide = gs_arg_true(rq, "wide");
	l->says.fd = -1;
	r = gs_selection_target(rq, &l->sel.target);
	if (r)
		return r;
	l->out = open_memstream(&l->text, &l->size);
	if (!l->out)
		return -ENOMEM;
	gs_gpu_time_flush(rq->rs->figures);
	return gs_request_work(rq, step_choose);
}

/* ---- stats ----------------------------------------------------------------------------------- */

struct summing {
	struct gs_ledger_rows *rows;
	json_t *figures;
	size_t n;
	FILE *out;
	char *text;
	size_t size;
};

static void summing_free(void *state)
{
	struct summing *t = state;

	if (t->out)
		fclose(t->out);
	if (t->rows)
		gs_ledger_rows_free(t->rows);
	json_decref(t->figures);
	free(t->text);
	free(t);
}

/* Writes the rows in slices of time: there can be one for each process. */
static int step_sums(struct gs_request *rq, uint64_t now_ns)
{
	struct summing *t = rq->state;
	bool failed = false;

	while (gs_request_has_time(rq)) {
		bool process = false;
		uid_t uid = 0;
		CLEANUP_JSON json_t *row = gs_ledger_row(t->rows, &process, &uid);

		if (!row) {
			fputs(t->n ? "],\"figures\":" : "{\"rows\":[],\"figures\":", t->out);
			failed |= json_dumpf(t->figures, t->out, JSON_COMPACT) != 0;
			fputc('}', t->out);
			failed |= fclose(t->out) != 0;
			t->out = NULL;
			rq->c.text = TAKE_PTR(t->text);
			return failed ? -ENOMEM : 0;
		}
		if (process)
			gs_view_tsg(&rq->view, uid, row);
		fputs(t->n++ ? "," : "{\"rows\":[", t->out);
		if (json_dumpf(row, t->out, JSON_COMPACT))
			return -ENOMEM;
	}
	return -EINPROGRESS;
}

static int step_add_up(struct gs_request *rq, uint64_t now_ns)
{
	struct summing *t = rq->state;

	gs_park_time_tell_all(rq->rs->parking);
	return gs_ledger_rows_sum(rq->rs->figures, t->rows, rq->until_ns)
		       ? gs_request_work(rq, step_sums)
		       : -EINPROGRESS;
}

static int begin_sums(struct gs_request *rq, const char *by)
{
	struct summing *t = calloc(1, sizeof(*t));
	int r;

	if (!t)
		return -ENOMEM;
	rq->state = t;
	rq->free_state = summing_free;
	r = gs_ledger_rows(rq->rs->figures, gs_view_sees_all_times(&rq->view), by, &t->rows,
			   rq->err);
	if (r)
		return r;
	t->figures = gs_history_figures_json();
	t->out = open_memstream(&t->text, &t->size);
	return t->out ? gs_request_work(rq, step_add_up) : -ENOMEM;
}

int gs_verb_stats(struct gs_request *rq)
{
	const char *by = gs_arg_text(rq, "by");
	json_t *stats;

	if (by)
		return begin_sums(rq, by);
	stats = gs_stats_json(rq->rs, rq->err);
	if (!stats)
		return gs_fail(rq->err, -EIO, "the counters cannot be read");
	json_object_update(rq->answer, stats);
	json_decref(stats);
	return 0;
}

/* How the previous daemon ended, and what was restored or continued since. */
static json_t *past_json(const struct gs_past *p)
{
	return json_pack("{s:b,s:b,s:i,s:i,s:i,s:i,s:i,s:i,s:i}", "crashed", p->crashed,
			 "forgotten", p->twice, "restored", (int)p->restored, "gone", (int)p->gone,
			 "failed", (int)p->failed, "continued", (int)p->continued, "reapplied",
			 (int)p->reapplied, "ended", (int)p->ended, "refused", (int)p->refused);
}

int gs_verb_ping(struct gs_request *rq)
{
	const struct gs_env *env = gs_env();
	json_t *o = rq->answer;

	json_object_set_new(o, "version", json_string(GPUSCHED_VERSION));
	json_object_set_new(o, "pid", json_integer(getpid()));
	json_object_set_new(o, "daemon", json_boolean(rq->rs && rq->rs->hub->opts.daemon));
	json_object_set_new(o, "dry_run", json_boolean(rq->rs && rq->rs->hub->opts.dry_run));
	json_object_set_new(o, "sim", json_boolean(env->sim));
	json_object_set_new(o, "dilate", json_real(env->dilate));
	if (rq->rs) {
		json_object_set_new(o, "driver_branch", json_integer(rq->rs->hub->branch));
		json_object_set_new(o, "gpus", json_integer((json_int_t)rq->rs->hub->ngpus));
		json_object_set_new(o, "past", past_json(&rq->rs->control->past));
	}
	return 0;
}
