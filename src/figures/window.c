// SPDX-License-Identifier: MIT
#include "figures/request_costs.h"
#include "figures/window.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "figures/classless.h"
#include "figures/kept_off.h"
#include "figures/ledger_judged.h"
#include "figures/ledger_priv.h"
#include "figures/unread.h"
#include "hub/records.h"

#define CALM_NS (5 * NS_PER_S) /* after this time, calm minutes are looked up again */

struct then {
	uint64_t id;
	struct gs_tsg_sums sums;
	bool counted;
	uint64_t launches, launches_since_ns;
	double suspended_ms;
	struct gpusched_settings is;
};

struct gs_window {
	uint64_t began_ns;
	bool past;
	uint64_t at; /* for a window in the past: the sample at its beginning */
	/* the rest is for a window from gs_window_begin() */
	struct then *tsgs; /* by id */
	size_t ntsgs;
	struct gs_gpu_sums *gpus;
	struct gs_trouble_counts troubles;
};

/* ---- begin ----------------------------------------------------------------------------------- */

int gs_window_past(const struct gs_figures *fig, uint64_t ns, struct gs_window **ret)
{
	struct gs_window *w;
	uint64_t at;

	if (!ledger_older(fig->ledger, ns, &at))
		return -EAGAIN;
	w = calloc(1, sizeof(*w));
	if (!w)
		return -ENOMEM;
	w->past = true;
	w->at = at;
	w->began_ns = fig->ledger->sampled_ns[at % SAMPLES];
	*ret = w;
	return 0;
}

static struct gs_gpu_sums gpu_now(const struct gs_figures *fig, size_t i)
{
	struct gs_account_gpu g = { 0 };

	if (fig->hub->account)
		gs_account_gpu(fig->hub->account, fig->hub->gpus[i].index, &g);
	if (!g.open || !g.sums.since_ns)
		return (struct gs_gpu_sums){ 0 };
	return gs_gpu_rates_sums(&g.sums);
}

static bool tsg_now(const struct gs_figures *fig, uint64_t id, struct gs_turn_sums *ret)
{
	*ret = (struct gs_turn_sums){ 0 };
	return fig->hub->account && !gs_account_of(fig->hub->account, id, ret);
}

static struct kept *find(const struct gs_figures *fig, uint64_t id)
{
	struct kept *k = NULL;

	if (fig->ledger)
		HASH_FIND(hh, fig->ledger->all, &id, sizeof(id), k);
	return k;
}

/* How long the TSG has been suspended so far, the present suspension included; NAN: unknown. */
static double suspended_ms(const struct gs_figures *fig, uint64_t id)
{
	const struct kept *k = find(fig, id);
	uint64_t ns = k ? k->total.v[GS_SUM_SUSPENDED] : 0;

	if (k && k->suspended_ns)
		ns += gs_now_ns() - k->suspended_ns;
	return k ? (double)ns / NS_PER_MS : NAN;
}

static struct then then_of(const struct gs_figures *fig, const struct gpusched_tsg *rec)
{
	struct gs_turn_sums t;

	tsg_now(fig, rec->task.id, &t);
	return (struct then){
		.id = rec->task.id,
		.sums = gs_tsg_rates_sums(&t),
		.counted = rec->task.known & GPUSCHED_KNOWN_LAUNCHES,
		.launches = rec->task.launches,
		.launches_since_ns = rec->task.launches_since_ns,
		.suspended_ms = suspended_ms(fig, rec->task.id),
		.is = gs_record_is(rec),
	};
}

static int by_id(const void *a, const void *b)
{
	const struct then *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

int gs_window_begin(struct gs_figures *fig, const struct gpusched_tsg *recs, size_t n,
		    struct gs_window **ret)
{
	struct gs_window *w = calloc(1, sizeof(*w));

	if (!w)
		return -ENOMEM;
	w->began_ns = gs_now_ns();
	w->tsgs = calloc(n + 1, sizeof(*w->tsgs));
	w->gpus = calloc(fig->hub->ngpus + 1, sizeof(*w->gpus));
	if (!w->tsgs || !w->gpus) {
		gs_window_free(w);
		return -ENOMEM;
	}
	for (size_t i = 0; i < n; i++)
		w->tsgs[w->ntsgs++] = then_of(fig, &recs[i]);
	qsort(w->tsgs, w->ntsgs, sizeof(*w->tsgs), by_id);
	for (size_t i = 0; i < fig->hub->ngpus; i++)
		w->gpus[i] = gpu_now(fig, i);
	w->troubles = ledger_troubles(fig);
	*ret = w;
	return 0;
}

void gs_window_free(struct gs_window *w)
{
	if (!w)
		return;
	free(w->tsgs);
	free(w->gpus);
	free(w);
}

/* ---- figures --------------------------------------------------------------------------------- */

size_t gs_window_bytes(const struct gs_window *w)
{
	return sizeof(*w) + w->ntsgs * sizeof(*w->tsgs);
}

double gs_window_ms(const struct gs_window *w)
{
	return (double)(gs_now_ns() - w->began_ns) / NS_PER_MS;
}

/* False if a newer sample has overwritten the window's. */
static bool is_there(const struct gs_figures *fig, const struct gs_window *w)
{
	return !w->past || (fig->ledger && w->at + SAMPLES >= fig->ledger->nsamples);
}

static struct gs_gpu_sums gpu_then(const struct gs_figures *fig, const struct gs_window *w,
				   size_t i)
{
	return w->past ? fig->ledger->gpus[i].samples[w->at % SAMPLES] : w->gpus[i];
}

void gs_window_gpu(const struct gs_figures *fig, const struct gs_window *w, size_t i,
		   struct gs_gpu_rates *ret)
{
	struct gs_gpu_sums before, now = gpu_now(fig, i);

	gs_gpu_rates_unknown(ret);
	if (!is_there(fig, w))
		return;
	before = gpu_then(fig, w, i);
	gs_gpu_rates(&before, &now, ret);
}

static double span_ns(const struct gs_figures *fig, const struct gs_window *w, uint32_t gpu)
{
	for (size_t i = 0; i < fig->hub->ngpus; i++) {
		struct gs_gpu_rates r;

		if (fig->hub->gpus[i].index != gpu)
			continue;
		gs_window_gpu(fig, w, i, &r);
		return isnan(r.span_ms) ? 0 : r.span_ms * NS_PER_MS;
	}
	return 0;
}

static uint64_t rose(uint64_t before, uint64_t now)
{
	return now > before ? now - before : 0;
}

void gs_window_troubles(const struct gs_figures *fig, const struct gs_window *w,
			struct gs_trouble_counts *ret)
{
	const struct gs_trouble_counts now = ledger_troubles(fig),
				       *b = w->past ? &fig->ledger->troubles[w->at % SAMPLES]
						    : &w->troubles;

	*ret = (struct gs_trouble_counts){
		.stuck = rose(b->stuck, now.stuck),
		.gave_up = rose(b->gave_up, now.gave_up),
		.log_lost = rose(b->log_lost, now.log_lost),
		.table_full = rose(b->table_full, now.table_full),
	};
}

static struct gs_tsg_sums grown(const struct gs_tsg_sums *b, const struct gs_tsg_sums *now)
{
	return (struct gs_tsg_sums){
		.held_ns = rose(b->held_ns, now->held_ns),
		.wait_ns = rose(b->wait_ns, now->wait_ns),
		.waits = rose(b->waits, now->waits),
		.turns = rose(b->turns, now->turns),
		.cut = rose(b->cut, now->cut),
		.drained = rose(b->drained, now->drained),
		.returns = rose(b->returns, now->returns),
		.alone_ns = rose(b->alone_ns, now->alone_ns),
		.worked_ns = rose(b->worked_ns, now->worked_ns),
	};
}

/* Takes launches within the window. The counter may have begun again at 0. */
static void put_launches(const struct then *then, const struct gpusched_tsg *rec,
			 struct gs_window_tsg *ret)
{
	ret->counted = then->counted && rec->task.known & GPUSCHED_KNOWN_LAUNCHES &&
		       then->launches_since_ns == rec->task.launches_since_ns;
	if (ret->counted)
		ret->launches = rose(then->launches, rec->task.launches);
}

#define OFTEN 20u /* launches of a program that makes steps */

/* How long the TSG has waited, while nothing of ours kept it off. */
static uint64_t stuck_ns(const struct gs_figures *fig, const struct kept *k, uint64_t now)
{
	struct gpusched_facts f; /* its times are of the clock of @now, not the GPU's */
	uint64_t since;

	if (k->suspended_ns || gs_account_facts(fig->hub->account, k->id, &f) ||
	    !f.waiting_since_ns)
		return 0;
	since = f.waiting_since_ns > k->free_ns ? f.waiting_since_ns : k->free_ns;
	return now < since ? 0 : now - since;
}

/* @k->acts_*: a time in which gpusched made call after call on the TSG. */
static uint64_t still_ns(const struct kept *k, const struct gpusched_task *task,
			 const struct gs_tsg_sums *grown, uint64_t now)
{
	uint64_t last = task->last_launch_ns;

	if (!(task->known & GPUSCHED_KNOWN_LAUNCHES) || task->launches < OFTEN || !k->acts_end_ns ||
	    grown->drained || !grown->held_ns || now < last || k->acts_begin_ns > last + NS_PER_S ||
	    k->acts_end_ns + 2 * NS_PER_S < last)
		return 0;
	return now - last;
}

void gs_window_tsg(const struct gs_figures *fig, const struct gs_window *w,
		   const struct gpusched_tsg *rec, struct gs_window_tsg *ret)
{
	const struct then key = { .id = rec->task.id };
	const struct then *then =
		w->past ? NULL : bsearch(&key, w->tsgs, w->ntsgs, sizeof(key), by_id);
	const struct kept *k = w->past ? find(fig, rec->task.id) : NULL;
	struct gs_tsg_sums before = { 0 }, now;
	struct gs_turn_sums t;

	*ret = (struct gs_window_tsg){
		.came = w->past ? !k || k->first_sample > w->at : !then,
		.suspended_ms = NAN,
	};
	gs_tsg_rates_unknown(&ret->rates);
	ret->known = tsg_now(fig, rec->task.id, &t) && is_there(fig, w);
	if (!ret->known)
		return;
	now = gs_tsg_rates_sums(&t);
	ret->waiting = t.waiting;
	if (w->past && k)
		before = ledger_sample_of(k, w->at);
	else if (then)
		before = then->sums;
	if (then) {
		put_launches(then, rec, ret);
		ret->suspended_ms = suspended_ms(fig, rec->task.id) - then->suspended_ms;
		ret->was = then->is;
	}
	ret->grown = grown(&before, &now);
	gs_tsg_rates(&before, &now, span_ns(fig, w, rec->task.gpu), &ret->rates);
	if (!k)
		return;
	ret->stuck_ns = stuck_ns(fig, k, gs_now_ns());
	ret->still_ns = still_ns(k, &rec->task, &ret->grown, gs_now_ns());
}

/* ---- JSON ------------------------------------------------------------------------------------ */

void gs_window_tsg_json(const struct gs_figures *fig, uint64_t id, uint32_t gpu, json_t *o)
{
	const struct gpusched_tsg rec = { .task = { .id = id, .gpu = gpu } };
	struct gs_window w = { .past = true };
	struct gs_window_tsg t = { .known = false };
	json_t *one = NULL;

	if (fig && ledger_oldest(fig->ledger, &w.at) && find(fig, id))
		gs_window_tsg(fig, &w, &rec, &t);
	if (t.known) {
		one = json_object();
		gs_tsg_rates_json(&t.rates, one);
	}
	json_object_set_new(o, "window_10s", one ? one : json_null());
}

static json_t *gpu_json(const struct gs_figures *fig, const struct gs_window *w, size_t i)
{
	struct gs_gpu_rates r;
	json_t *o = json_object();

	gs_window_gpu(fig, w, i, &r);
	gs_gpu_rates_json(&r, o);
	return o;
}

void gs_window_gpu_json(const struct gs_figures *fig, size_t i, json_t *o)
{
	struct gs_window w = { .past = true };

	json_object_set_new(o, "window_10s",
			    ledger_oldest(fig->ledger, &w.at) ? gpu_json(fig, &w, i) : json_null());
	json_object_set_new(o, "window_1s",
			    ledger_older(fig->ledger, NS_PER_S, &w.at) ? gpu_json(fig, &w, i)
								       : json_null());
}

void gs_window_stats_json(const struct gs_figures *fig, json_t *o)
{
	struct gs_window w = { .past = true };
	struct gs_trouble_counts rose;

	if (!ledger_oldest(fig->ledger, &w.at)) {
		json_object_set_new(o, "window_10s", json_null());
		return;
	}
	w.began_ns = fig->ledger->sampled_ns[w.at % SAMPLES];
	gs_window_troubles(fig, &w, &rose);
	json_object_set_new(
		o, "window_10s",
		json_pack("{s:I, s:I, s:I, s:I, s:I}", "ms", (json_int_t)gs_window_ms(&w), "stuck",
			  (json_int_t)rose.stuck, "gave_up", (json_int_t)rose.gave_up, "log_lost",
			  (json_int_t)rose.log_lost, "table_full", (json_int_t)rose.table_full));
}

/* ---- since when ------------------------------------------------------------------------------ */

/* The ledger's entry for the GPU of this index; NULL: there is none. */
static struct gpu_kept *gpu_of(const struct gs_figures *fig, int index)
{
	for (size_t i = 0; fig->ledger && i < fig->hub->ngpus; i++)
		if ((int)fig->hub->gpus[i].index == index)
			return &fig->ledger->gpus[i];
	return NULL;
}

/* Keeps the time at which a finding began as long as it lasts. */
static void mark(uint64_t *inout_ns, bool is, uint64_t now)
{
	*inout_ns = !is ? 0 : *inout_ns ? *inout_ns : now;
}

static bool has(const struct gs_findings *f, enum gs_finding_kind kind)
{
	for (size_t i = 0; i < f->n; i++)
		if (f->all[i].kind == kind)
			return true;
	return false;
}

/* Counts the findings, and passes them to the listener. */
static void take_found(struct gs_figures *fig, struct gs_findings *found)
{
	for (size_t i = 0; i < found->n; i++) {
		struct gs_finding *f = &found->all[i];

		fig->ledger->found[f->kind]++;
		if (!f->since_ns)
			f->since_ns = gs_window_since(fig, f);
		if (fig->found)
			fig->found(f, fig->found_user);
	}
}

/*
 * Looks for findings about a GPU. If it has no programs, its log is not opened, and that gives no
 * finding.
 */
static void mark_gpu(struct gs_figures *fig, size_t i, uint64_t now)
{
	struct gs_window long_one = { .past = true }, short_one = { .past = true };
	struct gs_account_gpu a;
	struct gs_gpu_facts g = { .gpu = (int)fig->hub->gpus[i].index,
				  .read = !fig->hub->watch_only };
	CLEANUP(gs_verdict_done) struct gs_findings found = { 0 };

	gs_unread_gpu(fig->hub, i, &a);
	g.log = a.open;
	g.reason = a.reason[0] ? a.reason : NULL;
	g.mig = fig->ledger->gpus[i].nmig;
	gs_gpu_rates_unknown(&g.window);
	gs_gpu_rates_unknown(&g.lately);
	if (fig->hub->account && ledger_oldest(fig->ledger, &long_one.at) &&
	    ledger_older(fig->ledger, NS_PER_S, &short_one.at)) {
		gs_window_gpu(fig, &long_one, i, &g.window);
		gs_window_gpu(fig, &short_one, i, &g.lately);
	}
	gs_verdict_gpu(&g, &found);
	mark(&fig->ledger->gpus[i].lossy_ns, has(&found, GS_FINDING_LOST_TIME), now);
	gs_kept_off_look(fig, i, &found);
	take_found(fig, &found);
}

/* Adds facts that the samples do not have, for the few TSGs that a finding may be about. */
static void put_record(struct gs_figures *fig, const struct kept *k,
		       const struct gs_tsg_sums *grown, uint64_t now, struct gs_tsg_facts *t)
{
	struct gpusched_tsg rec;

	if (gs_table_get(fig->hub->table, &k->key, &rec) || rec.task.id != k->id)
		return;
	t->suspended = rec.suspend_by != GPUSCHED_BY_NOBODY || rec.flags & GPUSCHED_TSG_HELD;
	t->counted = rec.task.known & GPUSCHED_KNOWN_LAUNCHES || gs_request_costs_known(fig, &rec);
	if (t->lc && !t->counted)
		gs_unread_launches(fig->hub, &fig->ledger->counting);
	t->counting = fig->ledger->counting;
	if (fig->hub->account)
		t->stuck_ns = stuck_ns(fig, k, now);
	t->still_ns = still_ns(k, &rec.task, grown, now);
}

static void take_classless(struct gs_figures *fig, const struct kept *k,
			   const struct gs_tsg_rates *rates)
{
	struct gpusched_tsg rec;
	struct gpu_kept *g;

	if (*k->who.class || !(rates->held_pct > 0) ||
	    gs_table_get(fig->hub->table, &k->key, &rec) || rec.task.id != k->id)
		return;
	g = gpu_of(fig, (int)k->who.gpu);
	if (g)
		gs_classless_take(&g->classless, &rec, rates);
}

static void mark_classless(struct gs_figures *fig, struct gpu_kept *g, uint64_t now)
{
	CLEANUP(gs_verdict_done) struct gs_findings found = { 0 };

	gs_verdict_classless(&g->classless, &found);
	mark(&g->classless_ns, found.n, now);
	take_found(fig, &found);
	g->classless = (struct gs_classless_facts){ .last = g->classless.tsg };
}

/* Uses the samples if it can, since this runs once a second for each TSG that works. */
static void mark_tsg(struct gs_figures *fig, struct kept *k, uint64_t at, double span, uint64_t now)
{
	const struct gs_tsg_sums before = ledger_sample_of(k, at),
				 last = ledger_sample_of(k, fig->ledger->nsamples - 1);
	struct gs_tsg_facts t = {
		.id = k->id,
		.pid = (uint32_t)k->who.pid,
		.uid = k->who.uid,
		.comm = k->who.comm,
		.gpu = (int)k->who.gpu,
		.lc = !strcmp(k->who.class, "lc"),
		.waiting = k->waiting,
		.counted = true,
		.policy = fig->hub->policy ? gs_policy_running(fig->hub->policy)->name : NULL,
		.calm_pct = k->calm_ns ? k->calm_pct : NAN,
		.class = k->who.class,
	};
	const struct gs_tsg_sums rise = grown(&before, &last);
	CLEANUP(gs_verdict_done) struct gs_findings found = { 0 };

	gs_tsg_rates(&before, &last, span, &t.window);
	take_classless(fig, k, &t.window);
	if (t.lc || t.waiting || k->acts_end_ns)
		put_record(fig, k, &rise, now, &t);
	t.slo_ns = gs_ledger_recent_requests(fig, k->id, &t.slo);
	gs_verdict_tsg(&t, &found);
	mark(&k->starved_ns, has(&found, GS_FINDING_STARVED) || has(&found, GS_FINDING_NO_TURN),
	     now);
	mark(&k->harmed_ns, has(&found, GS_FINDING_LC_WAITS), now);
	mark(&k->missed_ns, has(&found, GS_FINDING_SLO_MISSED), now);
	take_found(fig, &found);
}

static void forget_marks(struct gs_figures *fig)
{
	for (size_t i = 0; i < fig->hub->ngpus; i++)
		fig->ledger->gpus[i].lossy_ns = fig->ledger->gpus[i].classless_ns = 0;
}

/* True if the TSG is in the last sample, is of class lc or one with slo=, or has a finding. */
static bool may_have_findings(const struct gs_ledger *l, const struct kept *k)
{
	return k->sampled == l->nsamples || k->starved_ns || k->harmed_ns || k->slo ||
	       !strcmp(k->who.class, "lc");
}

void gs_window_mark(struct gs_figures *fig)
{
	struct gs_window w = { .past = true };
	uint64_t now = gs_now_ns();
	struct kept *k, *next;

	memset(fig->ledger->found, 0, sizeof(fig->ledger->found));
	fig->ledger->counting = GS_COUNTING_UNKNOWN;
	if (!fig->ledger->all) {
		forget_marks(fig);
		return;
	}
	for (size_t i = 0; i < fig->hub->ngpus; i++)
		mark_gpu(fig, i, now);
	if (!fig->hub->account || !ledger_oldest(fig->ledger, &w.at))
		return;
	DL_FOREACH_SAFE2(fig->ledger->judged, k, next, judged_next) {
		if (may_have_findings(fig->ledger, k))
			mark_tsg(fig, k, w.at, span_ns(fig, &w, k->who.gpu), now);
		else
			ledger_forgive(fig->ledger, k);
	}
	for (size_t i = 0; i < fig->hub->ngpus; i++)
		mark_classless(fig, &fig->ledger->gpus[i], now);
}

uint64_t gs_window_classless(const struct gs_figures *fig, int gpu)
{
	const struct gpu_kept *g = gpu_of(fig, gpu);

	return g ? g->classless.last : 0;
}

uint64_t gs_window_since(const struct gs_figures *fig, const struct gs_finding *f)
{
	const struct kept *k = f->tsg ? find(fig, f->tsg) : NULL;
	const struct gpu_kept *g = f->gpu >= 0 ? gpu_of(fig, f->gpu) : NULL;

	if (g && f->kind == GS_FINDING_LOST_TIME)
		return g->lossy_ns;
	if (g && f->kind == GS_FINDING_CLASSLESS)
		return g->classless_ns;
	return !k                                                               ? 0
	       : f->kind == GS_FINDING_STARVED || f->kind == GS_FINDING_NO_TURN ? k->starved_ns
	       : f->kind == GS_FINDING_LC_WAITS                                 ? k->harmed_ns
	       : f->kind == GS_FINDING_SLO_MISSED                               ? k->missed_ns
										: 0;
}

void gs_window_put_calm(struct gs_figures *fig, uint64_t id, double calm_pct)
{
	struct kept *k = find(fig, id);

	if (!k)
		return;
	k->calm_pct = calm_pct;
	k->calm_ns = gs_now_ns();
}

bool gs_window_calm(const struct gs_figures *fig, uint64_t id, double *ret_pct)
{
	const struct kept *k = find(fig, id);

	if (!k || !k->calm_ns || gs_now_ns() - k->calm_ns > CALM_NS)
		return false;
	*ret_pct = k->calm_pct;
	return true;
}

void gs_window_count(const struct gs_figures *fig, unsigned int ret[GS_FINDING_MAX])
{
	for (int i = 0; fig->ledger && i < GS_FINDING_MAX; i++)
		ret[i] += fig->ledger->found[i];
}
