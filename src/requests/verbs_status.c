// SPDX-License-Identifier: MIT
/* verbs_status.c - handles status: recent figures of GPUs and programs, and findings about them */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/user_limits.h"
#include "control/lease.h"
#include "control/starting.h"
#include "figures/classless.h"
#include "figures/cost_book.h"
#include "figures/crowd.h"
#include "figures/request_costs.h"
#include "figures/gpu_time.h"
#include "figures/kept_off.h"
#include "figures/memory.h"
#include "figures/unread.h"
#include "figures/window.h"
#include "hub/json.h"
#include "hub/limited.h"
#include "hub/loop.h"
#include "hub/records.h"
#include "policy/polmaps.h"
#include "requests/budget.h"
#include "requests/calm.h"
#include "requests/ended.h"
#include "requests/harm.h"
#include "requests/json.h"
#include "requests/requests.h"
#include "requests/selection.h"
#include "requests/state.h"
#include "requests/verbs.h"
#include "requests/verbs_park.h"
#include "rm/setting.h"
#include "taps/taps.h"

#define FIRST_MS 1000u              /* how long to watch if no samples exist yet */
#define COUNTED_MS 500u             /* time for each TSG to launch once, which starts its count */
#define CALLER_NS (250 * NS_PER_MS) /* time between two checks whether the caller is connected */
#define CALM_MS 5000u               /* longest wait for the history */

/* A request that watches keeps its connection for up to an hour, so each user may have only 8. */
struct gs_status_watch {
	struct gs_status_watch *prev, *next;
	uid_t uid;
};

struct status {
	struct gs_status_watch watch;
	struct gs_requests *rs;
	bool watches;             /* @watch is in the list of @rs */
	struct gs_selection sel;  /* the TSGs at the end of the window */
	struct gs_window *window; /* the span of time for the figures; NULL: no figures exist */
	uint64_t for_ms;          /* how long to watch; 0: looks back instead */
	/* this request has turned launch counting on; launch counting is on for whatever reason */
	bool leased, counted;
	enum gs_counting counting;    /* filled in when a finding needs it */
	struct gs_starting *starting; /* the start of launch counting */
	struct gs_calm *calm;
	struct gs_limits limits;
	struct gs_findings found;
	size_t told;                                /* number of findings written so far */
	bool ok;                                    /* no finding says that something is wrong */
	unsigned int classes[GPUSCHED_MAX_CLASSES]; /* number of TSGs by class */
	/* the answer's text, written GPU by GPU */
	FILE *out;
	char *text;
	size_t size;
	size_t gpu, rows;                    /* the current GPU, and its rows so far */
	unsigned int mig;                    /* TSGs in MIG partitions of the current GPU */
	unsigned int apart;                  /* TSGs in an unknown partition of the current GPU */
	struct gs_gpu_rates rates;           /* of the current GPU */
	struct gs_crowd crowd;               /* programs of the current GPU */
	double turn_cost_s;                  /* cost of a turn there without work; NAN: unknown */
	uint32_t slices[2];                  /* the two longest timeslices there */
	struct gs_kept_off off;              /* TSG of the current GPU */
	struct gs_classless_facts classless; /* programs of the current GPU */
	struct gs_polmap says;               /* the policy's remarks on TSGs; fd -1: it has none */
};

static void status_free(void *state)
{
	struct status *t = state;

	gs_selection_free(&t->sel);
	gs_window_free(t->window);
	if (t->starting)
		gs_starting_unref(t->starting);
	if (t->calm)
		gs_calm_unref(t->calm);
	gs_verdict_done(&t->found);
	gs_polmap_close(&t->says);
	if (t->out)
		fclose(t->out);
	free(t->text);
	free(t);
}

/* ---- one TSG --------------------------------------------------------------------------------- */

/* true if the policy wants any setting for the TSG; null if the viewer may not see that. */
static json_t *policy_acts(const json_t *tsg)
{
	const json_t *wants = gs_json_at(tsg, "want");
	const char *key;
	json_t *v;

	json_object_foreach((json_t *)wants, key, v)
		if (!json_is_null(v))
			return json_true();
	return wants ? json_false() : json_null();
}

/* Copies the value at @path in @tsg to the key @key of @o. */
static void put_copy(json_t *o, const char *key, const json_t *tsg, const char *path)
{
	json_t *v = (json_t *)gs_json_at(tsg, path);

	json_object_set_new(o, key, v ? json_incref(v) : json_null());
}

static void put_sums(json_t *o, const struct gs_window_tsg *w)
{
	const struct gs_tsg_sums *s = &w->grown;

	json_object_set_new(
		o, "sums",
		!w->known ? json_null()
			  : json_pack("{s:f, s:f, s:I, s:I, s:I, s:I}", "held_ms",
				      (double)s->held_ns / 1e6, "waited_ms",
				      (double)s->wait_ns / 1e6, "turns", (json_int_t)s->turns,
				      "slice_ended", (json_int_t)s->cut, "drained",
				      (json_int_t)s->drained, "returns", (json_int_t)s->returns));
	if (w->known)
		gs_rates_put_tenths(json_object_get(o, "sums"), "suspended_ms", w->suspended_ms);
	gs_json_put_number(o, "launches", w->counted, w->launches);
	json_object_set_new(o, "came", json_boolean(w->came));
}

/*
 * True if the TSG was in CTA mode at both ends of the window. CUDA sets CILP, and gpusched sets no
 * other mode by itself. So its owner or a person chose CTA because its thread blocks are short.
 */
static bool stays_in_cta(const struct gpusched_tsg *rec, const struct gs_window_tsg *w)
{
	const struct gpusched_settings is = gs_record_is(rec);

	return w->was.valid & is.valid & GPUSCHED_PREEMPT_MODE &&
	       w->was.preempt_mode == GPUSCHED_PREEMPT_CTA &&
	       is.preempt_mode == GPUSCHED_PREEMPT_CTA;
}

/* Judges what kind of program the TSG's looks like, and counts it among those of the GPU. */
static void put_kind(struct gs_request *rq, struct status *t, const struct gpusched_tsg *rec,
		     const struct gs_window_tsg *w, json_t *o)
{
	const struct gs_tsg_sums *s = &w->grown;
	uint32_t slice_us = gs_record_is(rec).timeslice_us;
	bool by_policy =
		rec->suspend_by == GPUSCHED_BY_POLICY || rec->suspend_by == GPUSCHED_BY_REQUEST;
	const struct gs_program_seen seen = {
		.known = w->known && !w->came && t->rates.span_ms > 0,
		.hidden = !(gs_view_record(&rq->view, rec) & GS_SEES_TIMES),
		.server = rec->flags & GPUSCHED_TSG_MPS,
		/* a program that only the policy suspends has turns to judge it by */
		.suspended = rec->suspend_by != GPUSCHED_BY_NOBODY && !(by_policy && s->turns),
		.span_s = t->rates.span_ms / 1e3,
		.held_s = (double)s->held_ns / 1e9,
		.turns = (double)s->turns,
		.slice_ended = (double)s->cut,
		.drained = (double)s->drained,
		.returns = (double)s->returns,
		.launches = w->counted ? (double)w->launches : NAN,
		.beside_us = t->slices[slice_us == t->slices[0]],
		.turn_cost_s = t->turn_cost_s,
	};
	enum gs_program_kind kind = gs_program_kind(&seen);

	gs_crowd_add(&t->crowd, kind, stays_in_cta(rec, w));
	json_object_set_new(o, "looks_like", json_string(gs_program_kind_name(kind)));
	json_object_set_new(o, "looks_like_why", json_string(gs_program_kind_text(kind)));
}

static const char *mode_of(const struct gpusched_settings *s)
{
	return s->valid & GPUSCHED_PREEMPT_MODE
		       ? gs_setting_word(GPUSCHED_PREEMPT_MODE, s->preempt_mode)
		       : NULL;
}

static json_t *row_of(struct gs_request *rq, struct status *t, const struct gpusched_tsg *rec,
		      const struct gs_window_tsg *w, double calm)
{
	static const char *const keys[] = {
		"id",          "pid",          "uid",           "comm",         "class",
		"mps",         "suspended_by", "held",          "reason",       "overruled",
		"kind",        "memory_bytes", "idle_since_ns", "gpu_instance", "compute_instance",
		"requests_by", "requests",     "scheduled",
	};
	CLEANUP_JSON json_t *all = gs_tsg_json(rq->rs, rec);
	json_t *o = json_object();

	for (size_t i = 0; i < GS_COUNT(keys); i++)
		put_copy(o, keys[i], all, keys[i]);
	gs_tsg_json_pod(rq->rs, rec, o);
	put_copy(o, "timeslice_us", all, "is.timeslice_us");
	put_copy(o, "asked_timeslice_us", all, "asked.timeslice_us");
	put_copy(o, "preempt_mode", all, "is.preempt_mode");
	gs_json_put_text(o, "preempt_mode_before", mode_of(&w->was));
	json_object_set_new(o, "policy_acts", policy_acts(all));
	json_object_set_new(o, "hidden",
			    json_boolean(!(gs_view_record(&rq->view, rec) & GS_SEES_TIMES)));
	gs_tsg_rates_json(&w->rates, o);
	json_object_set_new(o, "waiting", w->known ? json_boolean(w->waiting) : json_null());
	gs_rates_put_tenths(o, "calm_wait_pct", calm);
	put_sums(o, w);
	put_kind(rq, t, rec, w, o);
	gs_view_row(&rq->view, rec, o);
	return o;
}

/* True if the viewer may see how the record's process uses the GPU. */
static bool sees(const struct gs_request *rq, const struct gpusched_tsg *rec)
{
	const unsigned int needs = GS_SEES_WHO | GS_SEES_TIMES;

	return (gs_view_record(&rq->view, rec) & needs) == needs;
}

static void judge_tsg(struct gs_request *rq, struct status *t, const struct gpusched_tsg *rec,
		      const struct gs_window_tsg *w, double calm)
{
	const char *class = gs_stats_class(rq->rs, rec->task.class_id);
	bool counted = rec->task.known & GPUSCHED_KNOWN_LAUNCHES ||
		       gs_request_costs_known(rq->rs->figures, rec);
	char comm[GPUSCHED_COMM_LEN + 1];
	struct gs_slo_counts slo;
	uint64_t slo_ns;

	if (!w->known || !sees(rq, rec))
		return;
	snprintf(comm, sizeof(comm), "%.*s", GPUSCHED_COMM_LEN, rec->task.comm);
	slo_ns = gs_ledger_recent_requests(rq->rs->figures, rec->task.id, &slo);
	if (!counted && !strcmp(class, "lc"))
		gs_unread_launches(rq->rs->hub, &t->counting);
	gs_verdict_tsg(
		&(struct gs_tsg_facts){
			.id = rec->task.id,
			.pid = rec->task.pid,
			.uid = rec->task.uid,
			.comm = comm,
			.gpu = (int)rec->task.gpu,
			.lc = !strcmp(class, "lc"),
			.waiting = w->waiting,
			.suspended = rec->suspend_by != GPUSCHED_BY_NOBODY ||
				     rec->flags & GPUSCHED_TSG_HELD,
			.counted = counted,
			.counting = t->counting,
			.policy = rq->rs->hub->policy ? gs_policy_running(rq->rs->hub->policy)->name
						      : NULL,
			.calm_pct = calm,
			.window = w->rates,
			.stuck_ns = w->stuck_ns,
			.still_ns = w->still_ns,
			.class = class,
			.slo_ns = slo_ns,
			.slo = slo,
		},
		&t->found);
}

static void judge_holder(struct gs_request *rq, struct status *t, const struct gpusched_tsg *rec)
{
	char comm[GPUSCHED_COMM_LEN + 1];
	struct gs_memory_process p;

	if (!sees(rq, rec) || !gs_memory_of(rq->rs->figures, rec, &p) || p.tsg != rec->task.id)
		return;
	snprintf(comm, sizeof(comm), "%.*s", GPUSCHED_COMM_LEN, rec->task.comm);
	gs_verdict_holder(&t->limits,
			  &(struct gs_holder_facts){ .id = p.tsg,
						     .pid = p.pid,
						     .uid = rec->task.uid,
						     .comm = comm,
						     .gpu = (int)rec->task.gpu,
						     .bytes = p.own_bytes,
						     .idle_since_ns = p.idle_since_ns,
						     .now_ns = gs_now_ns() },
			  &t->found);
}

static void put_row(struct gs_request *rq, struct status *t, const struct gpusched_tsg *rec)
{
	struct gs_window_tsg w = { .known = false };
	CLEANUP_JSON json_t *row = NULL;
	double calm = NAN;

	gs_tsg_rates_unknown(&w.rates);
	if (t->window)
		gs_window_tsg(rq->rs->figures, t->window, rec, &w);
	gs_window_calm(rq->rs->figures, rec->task.id, &calm);
	t->mig += (rec->flags & GPUSCHED_TSG_MIG) != 0;
	t->apart += gpusched_is_apart(rec);
	t->classes[rec->task.class_id % GPUSCHED_MAX_CLASSES]++;
	judge_tsg(rq, t, rec, &w, calm);
	if (w.known && sees(rq, rec))
		gs_classless_take(&t->classless, rec, &w.rates);
	if (sees(rq, rec))
		gs_state_judge_suspended(rec, &t->found);
	judge_holder(rq, t, rec);
	if (sees(rq, rec))
		gs_kept_off_take(&t->off, rq->rs->figures, rec);
	row = row_of(rq, t, rec, &w, calm);
	json_object_set_new(row, "policy_says",
			    t->says.fd >= 0 && sees(rq, rec)
				    ? gs_polmap_says(&t->says, rec->task.id)
				    : json_null());
	if (t->rows++)
		fputc(',', t->out);
	json_dumpf(row, t->out, JSON_COMPACT);
}

/* ---- GPUs and findings ----------------------------------------------------------------------- */

static json_t *gpu_json(struct gs_request *rq, struct status *t, size_t i)
{
	const struct gs_gpu *gpu = &rq->rs->hub->gpus[i];
	struct gs_account_gpu a;
	struct gs_gpu_facts g = { .gpu = (int)gpu->index, .mig = t->mig };
	json_t *o = json_object(), *lately = json_null();
	struct gs_window *w;

	gs_unread_gpu(rq->rs->hub, i, &a);
	g.read = rq->rs->hub->opts.daemon && !rq->rs->hub->watch_only;
	g.log = a.open;
	g.reason = a.reason[0] ? a.reason : NULL;
	g.window = t->rates;
	gs_gpu_rates_unknown(&g.lately);
	json_object_set_new(o, "gpu", json_integer(gpu->index));
	json_object_set_new(o, "gpu_uuid", json_string(gpu->uuid));
	json_object_set_new(o, "log", json_boolean(a.open));
	gs_json_put_text(o, "reason", a.reason);
	json_object_set_new(o, "mig_tsgs", json_integer(t->mig));
	json_object_set_new(o, "apart_tsgs", json_integer(t->apart));
	json_object_set_new(o, "costs", gs_gpu_time_costs_json(rq->rs->figures, i));
	json_object_set_new(o, "memory", gs_memory_gpu_json(rq->rs->figures, i));
	json_object_set_new(o, "ended", gs_ended_of_gpu(rq, i));
	gs_gpu_rates_json(&g.window, o);
	if (!gs_window_past(rq->rs->figures, NS_PER_S, &w)) {
		gs_window_gpu(rq->rs->figures, w, i, &g.lately);
		lately = json_object();
		gs_gpu_rates_json(&g.lately, lately);
		gs_window_free(w);
	}
	json_object_set_new(o, "window_1s", lately);
	gs_crowd_json(&t->crowd, o);
	gs_verdict_gpu(&g, &t->found);
	gs_kept_off_judge(&t->off, rq->rs->figures, i, &t->found);
	gs_verdict_classless(&t->classless, &t->found);
	return o;
}

static json_t *rest_json(struct gs_request *rq, struct status *t)
{
	const struct gs_hub *hub = rq->rs->hub;
	json_t *o = json_object();

	json_object_set_new(o, "ok", json_boolean(t->ok));
	json_object_set_new(o, "daemon", json_boolean(hub->opts.daemon));
	json_object_set_new(o, "dry_run", json_boolean(hub->opts.dry_run));
	gs_json_put_text(o, "policy", hub->policy ? gs_policy_running(hub->policy)->name : NULL);
	json_object_set_new(o, "said", gs_policy_said_json(hub->policy));
	json_object_set_new(o, "parked", gs_parked_list_json(rq));
	json_object_set_new(o, "launches_counted", json_boolean(t->counted));
	json_object_set_new(o, "window_ms",
			    json_integer(t->window ? (json_int_t)gs_window_ms(t->window) : 0));
	return o;
}

/* Writes the members of @o, and the brace that ends the object; frees @o. */
static void put_members(struct status *t, json_t *o)
{
	json_dumpf(o, t->out, JSON_COMPACT | JSON_EMBED);
	fputc('}', t->out);
	json_decref(o);
}

static void put_finding(struct gs_request *rq, struct status *t, struct gs_finding *f)
{
	CLEANUP_JSON json_t *o = NULL;

	if (!f->since_ns)
		f->since_ns = gs_window_since(rq->rs->figures, f);
	t->ok &= gs_verdict_level(f->kind) != GS_LEVEL_WRONG;
	o = gs_verdict_json(f);
	if (t->told)
		fputc(',', t->out);
	json_dumpf(o, t->out, JSON_COMPACT);
}

static void count_size(struct gs_request *rq, const struct status *t)
{
	rq->size = t->sel.n * sizeof(*t->sel.recs) + t->found.n * sizeof(*t->found.all) +
		   (size_t)ftello(t->out);
}

static int step_findings(struct gs_request *rq, uint64_t now_ns)
{
	struct status *t = rq->state;
	bool failed;

	/* pods get no findings: findings name other processes, and use the node's pids */
	if (rq->view.pod)
		t->told = t->found.n;
	for (; t->told < t->found.n && gs_request_has_time(rq); t->told++)
		put_finding(rq, t, &t->found.all[t->told]);
	count_size(rq, t);
	if (t->told < t->found.n)
		return -EINPROGRESS;
	fputs("],", t->out);
	put_members(t, rest_json(rq, t));
	failed = ferror(t->out);
	failed |= fclose(TAKE_PTR(t->out)) != 0;
	if (failed)
		return -ENOMEM;
	rq->c.text = TAKE_PTR(t->text);
	return 0;
}

static int begin_findings(struct gs_request *rq)
{
	struct gs_trouble_counts rose = { 0 };
	struct status *t = rq->state;

	if (t->window)
		gs_window_troubles(rq->rs->figures, t->window, &rose);
	gs_state_judge(rq->rs, &rose, &t->found);
	gs_state_judge_classes(rq->rs, t->classes, &t->found);
	gs_parked_judge(rq, &t->found);
	gs_budgets_judge(rq, &t->found);
	gs_parked_judge_in_vain(rq->rs, &rq->view, &t->found);
	gs_harm_judge(rq->rs, &rq->view, &t->found);
	gs_verdict_sort(&t->found);
	t->ok = true;
	fputs("],\"findings\":[", t->out);
	return gs_request_work(rq, step_findings);
}

/* True if the TSG gets a row: it is a compute TSG on the current GPU. */
static bool has_row(const struct gs_request *rq, const struct status *t,
		    const struct gpusched_tsg *rec)
{
	return rec->task.kind == GPUSCHED_KIND_COMPUTE && !(rec->flags & GPUSCHED_TSG_GONE) &&
	       gs_record_gpu(rq->rs->hub, rec) == &rq->rs->hub->gpus[t->gpu];
}

/* Finds the two longest timeslices on the current GPU: a TSG competes with the longest of others. */
static void find_slices(struct gs_request *rq, struct status *t)
{
	t->slices[0] = t->slices[1] = 0;
	for (size_t i = 0; i < t->sel.n; i++) {
		uint32_t us = gs_record_is(&t->sel.recs[i]).timeslice_us;

		if (!has_row(rq, t, &t->sel.recs[i]) || us <= t->slices[1])
			continue;
		t->slices[1] = us > t->slices[0] ? t->slices[0] : us;
		t->slices[0] = us > t->slices[0] ? us : t->slices[0];
	}
}

static void begin_gpu(struct gs_request *rq, struct status *t)
{
	struct gs_costs costs = gs_cost_book_costs(rq->rs->figures, t->gpu);

	fputs(t->gpu ? ",{\"tsgs\":[" : "{\"tsgs\":[", t->out);
	gs_gpu_rates_unknown(&t->rates);
	if (t->window)
		gs_window_gpu(rq->rs->figures, t->window, t->gpu, &t->rates);
	t->crowd = (struct gs_crowd){ 0 };
	t->turn_cost_s = gs_program_kind_turn_cost(&costs);
	find_slices(rq, t);
	t->sel.at = t->rows = t->mig = t->apart = 0;
	t->off = (struct gs_kept_off){ 0 };
	t->classless = (struct gs_classless_facts){
		.last = gs_window_classless(rq->rs->figures, (int)rq->rs->hub->gpus[t->gpu].index),
	};
}

static int step_rows(struct gs_request *rq, uint64_t now_ns)
{
	struct status *t = rq->state;

	while (t->gpu < rq->rs->hub->ngpus && gs_request_has_time(rq)) {
		if (t->sel.at < t->sel.n) {
			const struct gpusched_tsg *rec = &t->sel.recs[t->sel.at++];

			if (has_row(rq, t, rec))
				put_row(rq, t, rec);
			continue;
		}
		fputs("],", t->out);
		put_members(t, gpu_json(rq, t, t->gpu));
		t->gpu++;
		if (t->gpu < rq->rs->hub->ngpus)
			begin_gpu(rq, t);
	}
	count_size(rq, t);
	return t->gpu < rq->rs->hub->ngpus ? -EINPROGRESS : begin_findings(rq);
}

/* ---- the stage before: waits in calm minutes ------------------------------------------------- */

static int begin_rows(struct gs_request *rq)
{
	struct status *t = rq->state;
	const struct gs_policy *policy = rq->rs->hub->policy;

	t->counted = rq->rs->hub->launches != NULL;
	if (policy) /* on failure, "policy_says" is null */
		gs_polmap_open_says(gs_policy_running(policy)->name, &t->says);
	t->out = open_memstream(&t->text, &t->size);
	if (!t->out)
		return -ENOMEM;
	fputs("{\"gpus\":[", t->out);
	if (rq->rs->hub->ngpus)
		begin_gpu(rq, t);
	return gs_request_work(rq, step_rows);
}

static int step_calm(struct gs_request *rq, uint64_t now_ns)
{
	const struct status *t = rq->state;

	return gs_calm_is_over(t->calm) || gs_completion_is_late(&rq->c, now_ns) ? begin_rows(rq)
										 : -EINPROGRESS;
}

/* Finds LC processes with a known wait now, but an unknown wait in calm minutes. */
static size_t find_lc(struct gs_request *rq, struct status *t, struct gs_calm_of ret[GS_CALM_MAX])
{
	size_t n = 0;

	for (size_t i = 0; t->window && i < t->sel.n && n < GS_CALM_MAX; i++) {
		const struct gpusched_tsg *rec = &t->sel.recs[i];
		struct gs_window_tsg w;
		double pct;

		if (rec->task.class_id != GPUSCHED_CLASS_LC ||
		    rec->task.kind != GPUSCHED_KIND_COMPUTE || !sees(rq, rec) ||
		    gs_window_calm(rq->rs->figures, rec->task.id, &pct))
			continue;
		gs_window_tsg(rq->rs->figures, t->window, rec, &w);
		if (!isnan(w.rates.wait_share_pct))
			ret[n++] = (struct gs_calm_of){ rec->task.id, (int32_t)rec->task.pid, NAN };
	}
	return n;
}

static int step_ask_calm(struct gs_request *rq, uint64_t now_ns)
{
	struct gs_calm_of of[GS_CALM_MAX];
	struct status *t = rq->state;
	size_t n = find_lc(rq, t, of);
	int r = n ? gs_calm_begin(rq->rs, of, n, &t->calm) : -ENOENT;

	if (r == -EBUSY && !gs_completion_is_late(&rq->c, now_ns))
		return -EINPROGRESS;
	return r ? begin_rows(rq) : gs_request_wait(rq, step_calm, GS_ON_TASK, CALM_MS);
}

static int step_choose(struct gs_request *rq, uint64_t now_ns)
{
	struct status *t = rq->state;
	int r = gs_selection_step(rq, &t->sel);

	if (r)
		return r;
	gs_gpu_time_flush(rq->rs->figures);
	return gs_request_wait(rq, step_ask_calm, GS_ON_TASK, CALM_MS);
}

static int begin_choose(struct gs_request *rq)
{
	struct status *t = rq->state;
	int r;

	gs_selection_free(&t->sel);
	t->sel = (struct gs_selection){ .n = 0 };
	r = gs_selection_target(rq, &t->sel.target);
	return r ? r : gs_request_work(rq, step_choose);
}

/* ---- the first stage: watching for a time ---------------------------------------------------- */

/* If the caller has left, the request ends, and with it the counting of launches for it. */
static int wait_on(struct gs_request *rq, uint64_t now_ns)
{
	if (gs_request_is_left(rq))
		return gs_fail(rq->err, -ECANCELED, "the caller has left");
	rq->c.look_ns = now_ns + CALLER_NS;
	return -EINPROGRESS;
}

static int step_passes(struct gs_request *rq, uint64_t now_ns)
{
	return gs_completion_is_late(&rq->c, now_ns) ? begin_choose(rq) : wait_on(rq, now_ns);
}

static int step_begin(struct gs_request *rq, uint64_t now_ns)
{
	struct status *t = rq->state;
	int r = gs_selection_step(rq, &t->sel);

	if (r)
		return r;
	gs_gpu_time_flush(rq->rs->figures);
	r = gs_window_begin(rq->rs->figures, t->sel.recs, t->sel.n, &t->window);
	gs_selection_free(&t->sel);
	t->sel = (struct gs_selection){ .n = 0 };
	/* the window takes memory while the request waits, so it is charged to the user */
	rq->size = t->window ? gs_window_bytes(t->window) : 0;
	return r ? r : gs_request_wait(rq, step_passes, 0, (unsigned int)t->for_ms);
}

static int begin_window(struct gs_request *rq)
{
	struct status *t = rq->state;
	int r = gs_selection_target(rq, &t->sel.target);

	return r ? r : gs_request_work(rq, step_begin);
}

static int step_first_launch(struct gs_request *rq, uint64_t now_ns)
{
	return gs_completion_is_late(&rq->c, now_ns) ? begin_window(rq) : wait_on(rq, now_ns);
}

/* Waits until the counting of launches has started. If that fails, goes on without launches. */
static int step_counting(struct gs_request *rq, uint64_t now_ns)
{
	struct status *t = rq->state;

	if (gs_starting_result(t->starting, NULL) == -EINPROGRESS)
		return wait_on(rq, now_ns);
	return rq->rs->hub->launches ? gs_request_wait(rq, step_first_launch, 0, COUNTED_MS)
				     : begin_window(rq);
}

static void lease_free(void *state)
{
	struct status *t = state;

	if (t->leased)
		gs_lease_end(t->rs->control);
	if (t->watches)
		DL_DELETE(t->rs->status_watches, &t->watch);
	status_free(t);
}

static int join_watches(struct gs_request *rq, struct status *t)
{
	const struct gs_status_watch *other;
	unsigned int n = 0;

	DL_FOREACH(rq->rs->status_watches, other)
		n += other->uid == rq->peer->uid;
	if (rq->peer->uid && n >= GS_USER_MAY_WATCHES) {
		gs_limited(rq->rs->hub, rq->peer->uid, GS_LIMIT_WATCHERS);
		return gs_fail(rq->err, -EBUSY, "%u requests of yours watch already", n);
	}
	t->watch.uid = rq->peer->uid;
	DL_APPEND(rq->rs->status_watches, &t->watch);
	t->watches = true;
	return 0;
}

static int begin_watch(struct gs_request *rq)
{
	struct status *t = rq->state;
	int r = join_watches(rq, t);

	if (r)
		return r;
	if (gs_arg_true(rq, "launches") && !rq->peer->uid)
		t->leased = !gs_lease_begin(t->rs->control, &t->starting, NULL);
	return t->starting ? gs_request_wait(rq, step_counting, GS_ON_TASK, 0) : begin_window(rq);
}

/* Looks back. If samples do not exist yet, as after the first program's start, watches for 1 s. */
static int begin_past(struct gs_request *rq)
{
	struct gs_taps_status st = { 0 };
	struct status *t = rq->state;
	int64_t s = gs_arg_number(rq, "window_s");
	int r = gs_window_past(rq->rs->figures, (uint64_t)(s ? s : GS_WINDOW_MAX_S) * NS_PER_S,
			       &t->window);

	if (r != -EAGAIN)
		return r ? r : begin_choose(rq);
	if (gs_taps_status(&st, NULL) || !st.tsgs)
		return begin_choose(rq);
	t->for_ms = FIRST_MS;
	return begin_window(rq);
}

int gs_verb_status(struct gs_request *rq)
{
	const struct gs_hub *hub = rq->rs->hub;
	struct status *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	t->rs = rq->rs;
	t->says.fd = -1;
	rq->state = t;
	rq->free_state = lease_free;
	t->limits = gs_verdict_limits(hub->config);
	t->for_ms = (uint64_t)gs_arg_number(rq, "for_us") / 1000;
	if (!hub->account) /* the GPUs' logs are not read: there is nothing to wait for */
		return begin_choose(rq);
	return t->for_ms ? begin_watch(rq) : begin_past(rq);
}
