// SPDX-License-Identifier: MIT
/* Once a second, looks for anomalies while a client watches. */
#include "figures/anomalies.h"

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
	struct gs_anomaly_state state;
};

struct gs_anomalies {
	struct tsg *tsgs;
	sd_event_source *look;
};

static json_t *event(enum gs_anomaly odd)
{
	return json_pack("{s:I, s:s, s:s}", "time_ns", (json_int_t)gs_now_ns(), "event",
			 gs_event_name(GPUSCHED_EV_ODD), "what", gs_anomaly_name(odd));
}

static void put_percent(json_t *o, const char *key, double part)
{
	json_object_set_new(o, key, json_real((double)(int)(part * 1000 + 0.5) / 10));
}

/* ---- TSGs ------------------------------------------------------------------------------------ */

static void tell_tsg(struct gs_figures *fig, const struct gpusched_tsg *rec, enum gs_anomaly odd,
		     const struct gs_anomaly_rates *rates)
{
	const char *class = gs_class_name(fig->hub->classes, rec->task.class_id);
	json_t *o = event(odd);

	json_object_set_new(o, "pid", json_integer(rec->task.pid));
	json_object_set_new(o, "comm", gs_json_text(rec->task.comm));
	json_object_set_new(o, "id", json_integer((json_int_t)rec->task.id));
	json_object_set_new(o, "gpu", json_integer(rec->task.gpu));
	if (class)
		json_object_set_new(o, "class", json_string(class));
	if (odd == GS_ANOMALY_LAUNCH_BURST || odd == GS_ANOMALY_LAUNCHES_STOPPED) {
		json_object_set_new(o, "launches_per_s", json_integer((json_int_t)rates->launches));
	} else {
		put_percent(o, "held_pct", rates->held);
		put_percent(o, "waited_pct", rates->waited);
		json_object_set_new(o, "turns_per_s", json_integer((json_int_t)rates->turns));
	}
	gs_observers_say(&fig->hub->observers, o, rec->task.uid);
}

static struct tsg *find_or_new(struct gs_anomalies *a, uint64_t id)
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

static struct gs_anomaly_look look_of(struct gs_figures *fig, const struct gpusched_tsg *rec,
				      uint64_t ns)
{
	struct gs_turn_sums sums = { 0 };
	struct gs_anomaly_look l = { .ns = ns };
	struct gs_account_gpu gpu;

	gs_account_gpu(fig->hub->account, rec->task.gpu, &gpu);
	l.short_ns = gs_costs_short_turn_ns(&gpu.costs);
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
	const struct gs_anomaly_look now = look_of(fig, rec, ns);
	struct tsg *t = find_or_new(fig->anomalies, rec->task.id);
	uint32_t news = t ? gs_anomaly_tsg(&t->state, &now) : 0;

	for (enum gs_anomaly odd = 0; odd < GS_ANOMALY_MAX; odd++)
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

void gs_anomalies_ended(void *self, const struct gs_end *end)
{
	struct gs_figures *fig = self;
	struct tsg *t = NULL;

	if (!fig->anomalies)
		return;
	HASH_FIND(hh, fig->anomalies->tsgs, &end->id, sizeof(end->id), t);
	if (!t)
		return;
	HASH_DEL(fig->anomalies->tsgs, t);
	free(t);
}

static int on_look(sd_event_source *src, uint64_t us, void *user)
{
	struct gs_figures *fig = user;
	uint64_t begin = gs_thread_cpu_ns(), cost;

	if (!fig->hub->watched) {
		gs_anomalies_end(fig);
		return 0;
	}
	gs_gpu_time_flush(fig);
	look_at_tsgs(fig, (uint64_t)((double)gs_now_ns() / gs_env()->dilate));
	cost = (gs_thread_cpu_ns() - begin) * LOOK_COST_FACTOR;
	sd_event_source_set_time(src, us + (cost > LOOK_NS ? cost : LOOK_NS) / NS_PER_US);
	return sd_event_source_set_enabled(src, SD_EVENT_ONESHOT);
}

/* ---- life ------------------------------------------------------------------------------------ */

void gs_anomalies_begin(struct gs_figures *fig)
{
	struct gs_anomalies *a;

	if (!fig->hub->account || fig->anomalies)
		return;
	a = calloc(1, sizeof(*a));
	if (!a)
		return;
	fig->anomalies = a;
	if (sd_event_add_time(fig->hub->event, &a->look, CLOCK_MONOTONIC, gs_now_ns() / NS_PER_US,
			      10000, on_look, fig) < 0)
		gs_anomalies_end(fig);
}

void gs_anomalies_end(struct gs_figures *fig)
{
	struct tsg *t, *next;

	if (!fig->anomalies)
		return;
	HASH_ITER(hh, fig->anomalies->tsgs, t, next) {
		HASH_DEL(fig->anomalies->tsgs, t);
		free(t);
	}
	sd_event_source_disable_unref(fig->anomalies->look);
	free(fig->anomalies);
	fig->anomalies = NULL;
}
