// SPDX-License-Identifier: MIT
/* Looks once a second for what is odd, while somebody watches. */
#include "service/oddities.h"

#include <string.h>
#include <uthash.h>

#include "basic/clock.h"
#include "basic/env.h"
#include "service/instance.h"
#include "service/odd.h"
#include "service/sight.h"
#include "table/events.h"

#define LOOK_NS NS_PER_S
#define LOOK_COST_FACTOR 50 /* a look may cost this part of the time between two */

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
	} * gpus; /* as many as the service has */
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

/* ---- TSGs ------------------------------------------------------------------------------------ */

static void tell_tsg(struct gs_service *s, const struct gpusched_tsg *rec, enum gs_odd odd,
		     const struct gs_odd_rates *rates)
{
	const char *class = gs_class_name(s->classes, rec->task.class_id);
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
	gs_observers_say(&s->observers, o, rec->task.uid);
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

static struct gs_odd_look look_of(struct gs_service *s, const struct gpusched_tsg *rec, uint64_t ns)
{
	const char *class = gs_class_name(s->classes, rec->task.class_id);
	struct gs_turn_sums sums = { 0 };
	struct gs_odd_look l = { .ns = ns };

	l.lc = class && !strcmp(class, "lc");
	l.timed = !gs_account_of(s->account, rec->task.id, &sums);
	l.held_ns = sums.held_ns;
	l.wait_ns = sums.wait_ns;
	l.turns = sums.turns;
	l.slice_ended = sums.ended[GS_TURN_SLICE];
	l.waiting = sums.waiting;
	l.counted = rec->task.known & GPUSCHED_KNOWN_LAUNCHES;
	l.launches = rec->task.launches;
	return l;
}

static void look_at(struct gs_service *s, const struct gpusched_tsg *rec, uint64_t ns)
{
	const struct gs_odd_look now = look_of(s, rec, ns);
	struct tsg *t = find_or_new(s->oddities, rec->task.id);
	uint32_t news = t ? gs_odd_tsg(&t->state, &now) : 0;

	for (enum gs_odd odd = 0; odd < GS_ODD_MAX; odd++)
		if (news & 1u << odd)
			tell_tsg(s, rec, odd, &t->state.rates);
}

static void look_at_tsgs(struct gs_service *s, uint64_t ns)
{
	struct gpusched_tsg *recs = NULL;
	size_t n = 0;

	if (gs_table_all(s->o, &recs, &n))
		return;
	for (size_t i = 0; i < n; i++)
		if (recs[i].task.kind == GPUSCHED_KIND_COMPUTE &&
		    !(recs[i].flags & GPUSCHED_TSG_GONE))
			look_at(s, &recs[i], ns);
	free(recs);
}

void gs_oddities_ended(struct gs_service *s, const struct gs_end *end)
{
	struct tsg *t = NULL;

	if (!s->oddities)
		return;
	HASH_FIND(hh, s->oddities->tsgs, &end->id, sizeof(end->id), t);
	if (!t)
		return;
	HASH_DEL(s->oddities->tsgs, t);
	free(t);
}

/* ---- GPUs ------------------------------------------------------------------------------------ */

static void look_at_gpu(struct gs_service *s, size_t i)
{
	struct gs_runlist_sums *b = &s->oddities->gpus[i].before;
	struct gs_account_gpu g;
	double span, lost;
	json_t *o;

	gs_account_gpu(s->account, s->gpus[i].index, &g);
	span = (double)(g.sums.as_of_ns - b->as_of_ns);
	lost = span > 0 && b->since_ns == g.sums.since_ns && b->since_ns
		       ? (double)(g.sums.lost_ns - b->lost_ns) / span
		       : 0;
	if (gs_odd_gpu(&s->oddities->gpus[i].state, lost)) {
		o = event(GS_ODD_LOST_TIME);
		json_object_set_new(o, "gpu", json_integer(s->gpus[i].index));
		put_percent(o, "lost_pct", lost);
		json_object_set_new(
			o, "switches_per_s",
			json_integer((json_int_t)((double)(g.sums.switches - b->switches) *
						  (double)NS_PER_S / span)));
		gs_observers_say(&s->observers, o, GS_NOBODY);
	}
	*b = g.sums;
}

static int on_look(sd_event_source *src, uint64_t us, void *user)
{
	struct gs_service *s = user;
	uint64_t begin = gs_thread_cpu_ns(), cost;

	if (!s->watched) {
		gs_oddities_end(s);
		return 0;
	}
	gs_sight_flush(s);
	for (size_t i = 0; i < s->ngpus; i++)
		look_at_gpu(s, i);
	look_at_tsgs(s, (uint64_t)((double)gs_now_ns() / gs_env()->dilate));
	cost = (gs_thread_cpu_ns() - begin) * LOOK_COST_FACTOR;
	sd_event_source_set_time(src, us + (cost > LOOK_NS ? cost : LOOK_NS) / NS_PER_US);
	return sd_event_source_set_enabled(src, SD_EVENT_ONESHOT);
}

/* ---- life ------------------------------------------------------------------------------------ */

void gs_oddities_begin(struct gs_service *s)
{
	struct gs_oddities *a;

	if (!s->account || s->oddities)
		return;
	a = calloc(1, sizeof(*a));
	if (!a)
		return;
	s->oddities = a;
	a->gpus = calloc(s->ngpus + 1, sizeof(*a->gpus));
	if (!a->gpus || sd_event_add_time(s->event, &a->look, CLOCK_MONOTONIC,
					  gs_now_ns() / NS_PER_US, 10000, on_look, s) < 0)
		gs_oddities_end(s);
}

void gs_oddities_end(struct gs_service *s)
{
	struct tsg *t, *next;

	if (!s->oddities)
		return;
	HASH_ITER(hh, s->oddities->tsgs, t, next) {
		HASH_DEL(s->oddities->tsgs, t);
		free(t);
	}
	sd_event_source_disable_unref(s->oddities->look);
	free(s->oddities->gpus);
	free(s->oddities);
	s->oddities = NULL;
}
