// SPDX-License-Identifier: MIT
/* Once a second, looks for anomalies while a client watches. */
#include "figures/anomalies.h"

#include <math.h>
#include <string.h>
#include <uthash.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/env.h"
#include "figures/figures.h"
#include "figures/anomaly.h"
#include "figures/gpu_time.h"
#include "table/events.h"

#define LOOK_NS NS_PER_S
#define LOOK_COST_FACTOR 50 /* the pause after a check is this multiple of its CPU time */

struct tsg {
	UT_hash_handle hh;
	uint64_t id;
	struct gs_odd_state state;
};

struct gs_oddities {
	struct tsg *tsgs;
	struct {
		struct gs_odd_state state;
		struct gs_runlist_sums before;
	} * gpus; /* one entry per GPU of the hub */
	sd_event_source *look;
};

static json_t *event(enum gs_odd odd)
{
	return json_pack("{s:I, s:s, s:s}", "time_ns", (json_int_t)gs_now_ns(), "event",
			 gs_event_name(GPUSCHED_EV_ODD), "what", gs_odd_name(odd));
}

static void put_percent(json_t *o, const char *key, double part)
{
	json_object_set_new(o, key, json_real((double)(int)(part * 1000 + 0.5) / 10));
}

/* Adds the texts that the verdict has for these findings. */
static void put_words(json_t *o, const struct gs_findings *found)
{
	for (size_t i = 0; i < found->n; i++) {
		const struct gs_finding *f = &found->all[i];

		if (f->kind != GS_FINDING_LOST_TIME && f->kind != GS_FINDING_LC_WAITS)
			continue;
		json_object_set_new(o, "text", gs_json_text(f->text));
		json_object_set_new(o, "do", gs_json_text(f->remedy));
	}
}

/* ---- TSGs ------------------------------------------------------------------------------------ */

static void put_waits(struct gs_figures *fig, const struct gpusched_tsg *rec,
		      const struct gs_odd_rates *rates, json_t *o)
{
	CLEANUP(gs_findings_done) struct gs_findings found = { 0 };
	struct gs_tsg_facts t = {
		.pid = rec->task.pid,
		.comm = json_string_value(json_object_get(o, "comm")),
		.lc = true,
		.counted = true,
		.policy = fig->hub->policy ? gs_policy_running(fig->hub->policy)->name : NULL,
		.calm_pct = NAN,
	};

	gs_tsg_rates_unknown(&t.window);
	t.window.waited_pct = 100 * rates->waited;
	t.window.wait_share_pct = 100 * rates->waited / (rates->held + rates->waited);
	gs_judge_tsg(&t, &found);
	put_words(o, &found);
}

static void tell_tsg(struct gs_figures *fig, const struct gpusched_tsg *rec, enum gs_odd odd,
		     const struct gs_odd_rates *rates)
{
	const char *class = gs_class_name(fig->hub->classes, rec->task.class_id);
	json_t *o = event(odd);

	json_object_set_new(o, "pid", json_integer(rec->task.pid));
	json_object_set_new(o, "comm", gs_json_text(rec->task.comm));
	json_object_set_new(o, "id", json_integer((json_int_t)rec->task.id));
	json_object_set_new(o, "gpu", json_integer(rec->task.gpu));
	if (class)
		json_object_set_new(o, "class", json_string(class));
	if (odd == GS_ODD_LAUNCH_BURST || odd == GS_ODD_LAUNCHES_STOPPED) {
		json_object_set_new(o, "launches_per_s", json_integer((json_int_t)rates->launches));
	} else {
		put_percent(o, "held_pct", rates->held);
		put_percent(o, "waited_pct", rates->waited);
		json_object_set_new(o, "turns_per_s", json_integer((json_int_t)rates->turns));
	}
	if (odd == GS_ODD_LC_WAITS)
		put_waits(fig, rec, rates, o);
	gs_observers_say(&fig->hub->observers, o, rec->task.uid);
}

static struct tsg *find_or_new(struct gs_oddities *a, uint64_t id)
{
	struct tsg *t = NULL;

	HASH_FIND(hh, a->tsgs, &id, sizeof(id), t);
	if (t)
		return t;
	t = calloc(1, sizeof(*t));
	if (!t)
		return NULL;
	t->id = id;
	HASH_ADD(hh, a->tsgs, id, sizeof(t->id), t);
	return t;
}

static struct gs_odd_look look_of(struct gs_figures *fig, const struct gpusched_tsg *rec,
				  uint64_t ns)
{
	const char *class = gs_class_name(fig->hub->classes, rec->task.class_id);
	struct gs_turn_sums sums = { 0 };
	struct gs_odd_look l = { .ns = ns };
	struct gs_account_gpu gpu;

	gs_account_gpu(fig->hub->account, rec->task.gpu, &gpu);
	l.short_ns = gs_costs_short_turn_ns(&gpu.costs);
	l.lc = class && !strcmp(class, "lc");
	l.timed = !gs_account_of(fig->hub->account, rec->task.id, &sums);
	l.held_ns = sums.held_ns;
	l.wait_ns = sums.wait_ns;
	l.turns = sums.turns;
	l.slice_ended = sums.ended[GS_TURN_SLICE];
	l.waiting = sums.waiting;
	l.counted = rec->task.known & GPUSCHED_KNOWN_LAUNCHES;
	l.launches = rec->task.launches;
	return l;
}

static void look_at(struct gs_figures *fig, const struct gpusched_tsg *rec, uint64_t ns)
{
	const struct gs_odd_look now = look_of(fig, rec, ns);
	struct tsg *t = find_or_new(fig->oddities, rec->task.id);
	uint32_t news = t ? gs_odd_tsg(&t->state, &now) : 0;

	for (enum gs_odd odd = 0; odd < GS_ODD_MAX; odd++)
		if (news & 1u << odd)
			tell_tsg(fig, rec, odd, &t->state.rates);
}

static void look_at_tsgs(struct gs_figures *fig, uint64_t ns)
{
	struct gpusched_tsg *recs = NULL;
	size_t n = 0;

	if (gs_table_all(fig->hub->table, &recs, &n))
		return;
	for (size_t i = 0; i < n; i++)
		if (recs[i].task.kind == GPUSCHED_KIND_COMPUTE &&
		    !(recs[i].flags & GPUSCHED_TSG_GONE))
			look_at(fig, &recs[i], ns);
	free(recs);
}

void gs_oddities_ended(void *self, const struct gs_end *end)
{
	struct gs_figures *fig = self;
	struct tsg *t = NULL;

	if (!fig->oddities)
		return;
	HASH_FIND(hh, fig->oddities->tsgs, &end->id, sizeof(end->id), t);
	if (!t)
		return;
	HASH_DEL(fig->oddities->tsgs, t);
	free(t);
}

/* ---- GPUs ------------------------------------------------------------------------------------ */

static json_t *lost_event(struct gs_figures *fig, size_t i, double lost, double switches_per_s)
{
	CLEANUP(gs_findings_done) struct gs_findings found = { 0 };
	struct gs_gpu_facts g = { .gpu = (int)fig->hub->gpus[i].index, .read = true, .log = true };
	json_t *o = event(GS_ODD_LOST_TIME);

	gs_gpu_rates_unknown(&g.window);
	gs_gpu_rates_unknown(&g.lately);
	g.window.lost_pct = 100 * lost;
	g.window.switches_per_s = switches_per_s;
	gs_judge_gpu(&g, &found);
	json_object_set_new(o, "gpu", json_integer(g.gpu));
	put_percent(o, "lost_pct", lost);
	json_object_set_new(o, "switches_per_s", json_integer((json_int_t)switches_per_s));
	put_words(o, &found);
	return o;
}

static void look_at_gpu(struct gs_figures *fig, size_t i)
{
	struct gs_runlist_sums *b = &fig->oddities->gpus[i].before;
	struct gs_account_gpu g;
	double span, lost;

	gs_account_gpu(fig->hub->account, fig->hub->gpus[i].index, &g);
	span = (double)(g.sums.as_of_ns - b->as_of_ns);
	lost = span > 0 && b->since_ns == g.sums.since_ns && b->since_ns
		       ? (double)(g.sums.lost_ns - b->lost_ns) / span
		       : 0;
	if (gs_odd_gpu(&fig->oddities->gpus[i].state, lost))
		gs_observers_say(&fig->hub->observers,
				 lost_event(fig, i, lost,
					    (double)(g.sums.switches - b->switches) *
						    (double)NS_PER_S / span),
				 GS_NOBODY);
	*b = g.sums;
}

static int on_look(sd_event_source *src, uint64_t us, void *user)
{
	struct gs_figures *fig = user;
	uint64_t begin = gs_thread_cpu_ns(), cost;

	if (!fig->hub->watched) {
		gs_oddities_end(fig);
		return 0;
	}
	gs_sight_flush(fig);
	for (size_t i = 0; i < fig->hub->ngpus; i++)
		look_at_gpu(fig, i);
	look_at_tsgs(fig, (uint64_t)((double)gs_now_ns() / gs_env()->dilate));
	cost = (gs_thread_cpu_ns() - begin) * LOOK_COST_FACTOR;
	sd_event_source_set_time(src, us + (cost > LOOK_NS ? cost : LOOK_NS) / NS_PER_US);
	return sd_event_source_set_enabled(src, SD_EVENT_ONESHOT);
}

/* ---- life ------------------------------------------------------------------------------------ */

void gs_oddities_begin(struct gs_figures *fig)
{
	struct gs_oddities *a;

	if (!fig->hub->account || fig->oddities)
		return;
	a = calloc(1, sizeof(*a));
	if (!a)
		return;
	fig->oddities = a;
	a->gpus = calloc(fig->hub->ngpus + 1, sizeof(*a->gpus));
	if (!a->gpus || sd_event_add_time(fig->hub->event, &a->look, CLOCK_MONOTONIC,
					  gs_now_ns() / NS_PER_US, 10000, on_look, fig) < 0)
		gs_oddities_end(fig);
}

void gs_oddities_end(struct gs_figures *fig)
{
	struct tsg *t, *next;

	if (!fig->oddities)
		return;
	HASH_ITER(hh, fig->oddities->tsgs, t, next) {
		HASH_DEL(fig->oddities->tsgs, t);
		free(t);
	}
	sd_event_source_disable_unref(fig->oddities->look);
	free(fig->oddities->gpus);
	free(fig->oddities);
	fig->oddities = NULL;
}
