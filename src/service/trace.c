// SPDX-License-Identifier: MIT
/* For those who record: which TSGs there are, their turns as they end, counters. */
#include "service/agents.h"
#include "service/trace.h"

#include <string.h>
#include <time.h>
#include <uthash.h>

#include "basic/clock.h"
#include "basic/env.h"
#include "basic/log.h"
#include "service/instance.h"
#include "service/sight.h"
#include "service/watch.h"

#define TICK_NS (200 * NS_PER_MS)
#define TICK_COST_FACTOR 20 /* a tick may cost this part of the time between two */
#define TURNS_MAX 512       /* told together */

/* A compute TSG, as it was told last. */
struct traced {
	UT_hash_handle hh;
	uint64_t id;
	struct gpusched_key key;
	struct traced_what {
		uint32_t pid, uid, gpu, class_id;
		char comm[GPUSCHED_COMM_LEN];
	} what;
};

struct gs_tracing {
	struct traced *tsgs;
	sd_event_source *tick;
	struct {
		struct gs_turn turn;
		uid_t uid;
	} turns[TURNS_MAX];
	size_t n;
};

static struct traced *find(const struct gs_tracing *t, uint64_t id)
{
	struct traced *found = NULL;

	HASH_FIND(hh, t->tsgs, &id, sizeof(id), found);
	return found;
}

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec ts = { 0 };

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * NS_PER_S + (uint64_t)ts.tv_nsec;
}

static bool sees_turns(const struct gs_view *v, uid_t owner)
{
	unsigned int sees = gs_view_process(v, owner);

	return sees & GS_SEES_WHO && sees & GS_SEES_TIMES;
}

static json_t *number(uint64_t n)
{
	return json_integer((json_int_t)n);
}

/* 0: not. */
static json_t *known(uint64_t n)
{
	return n ? number(n) : json_null();
}

/* ---- lines, each for one pair of eyes ---------------------------------------------------------- */

static json_t *line(const char *event)
{
	json_t *o = json_object();

	json_object_set_new(o, "event", json_string(event));
	json_object_set_new(o, "time_ns", number(gs_now_ns()));
	return o;
}

static json_t *first_line(struct gs_service *s, const struct gs_view *v)
{
	json_t *o = line("trace");

	json_object_set_new(o, "realtime_ns", number(clock_ns(CLOCK_REALTIME)));
	json_object_set_new(o, "boottime_ns", number(clock_ns(CLOCK_BOOTTIME)));
	json_object_set_new(o, "dilate", json_real(gs_env()->dilate));
	json_object_set_new(o, "others", json_boolean(v->others & GS_SEES_TIMES));
	json_object_set_new(o, "gpus", gs_sight_gpus_json(s));
	return o;
}

static json_t *tsg_line(struct gs_service *s, const struct gs_view *v, const void *tsg)
{
	const struct traced *t = tsg;
	const char *class = t->what.class_id ? gs_class_name(s->classes, t->what.class_id) : NULL;
	json_t *o;

	if (!(gs_view_process(v, t->what.uid) & GS_SEES_WHO))
		return NULL;
	o = line("tsg");
	json_object_set_new(o, "id", number(t->id));
	json_object_set_new(o, "gpu", number(t->what.gpu));
	json_object_set_new(o, "pid", number(t->what.pid));
	json_object_set_new(o, "uid", number(t->what.uid));
	json_object_set_new(o, "comm", gs_json_text(t->what.comm));
	gs_json_put_text(o, "class", class);
	json_object_set_new(o, "turns", json_boolean(sees_turns(v, t->what.uid)));
	return o;
}

static json_t *turns_line(struct gs_service *s, const struct gs_view *v, const void *none)
{
	static const char *const ends[GS_TURN_ENDS] = { NULL, "slice", "drained" };
	const struct gs_tracing *t = s->tracing;
	json_t *o = line("turns"), *list = json_array();

	for (size_t i = 0; i < t->n; i++) {
		const struct gs_turn *turn = &t->turns[i].turn;

		if (sees_turns(v, t->turns[i].uid))
			json_array_append_new(list,
					      json_pack("[I, I, I, I, s?, o]", (json_int_t)turn->id,
							(json_int_t)turn->start_ns,
							(json_int_t)turn->end_ns,
							(json_int_t)turn->contended_ns,
							ends[turn->end], known(turn->waited_ns)));
	}
	json_object_set_new(o, "turns", list);
	if (json_array_size(list))
		return o;
	json_decref(o);
	return NULL;
}

/* Turns that were not told yet. */
struct open_turns {
	const struct gs_tracing *t;
	const struct gs_view *view;
	json_t *list;
};

static void add_open(const struct gs_turn *turn, void *user)
{
	struct open_turns *open = user;
	const struct traced *t = find(open->t, turn->id);

	if (t && sees_turns(open->view, t->what.uid))
		json_array_append_new(open->list,
				      json_pack("[I, I, I, o]", (json_int_t)turn->id,
						(json_int_t)turn->start_ns,
						(json_int_t)turn->end_ns, known(turn->waited_ns)));
}

/* Counted by probes, or told by its process's own agent. */
static bool launches_of(const struct gs_service *s, const struct gpusched_tsg *rec, uint64_t *ret)
{
	*ret = rec->task.launches;
	return rec->task.known & GPUSCHED_KNOWN_LAUNCHES || gs_agents_launches(s, rec, ret);
}

static json_t *launches(struct gs_service *s, const struct gs_view *v)
{
	json_t *list = json_array();
	struct gpusched_tsg rec;
	uint64_t n;

	for (struct traced *t = s->tracing->tsgs; t; t = t->hh.next)
		if (gs_view_process(v, t->what.uid) & GS_SEES_ALL &&
		    !gs_table_get(s->o, &t->key, &rec) && rec.task.id == t->id &&
		    launches_of(s, &rec, &n))
			json_array_append_new(
				list, json_pack("[I, I]", (json_int_t)t->id, (json_int_t)n));
	return list;
}

static json_t *counters_line(struct gs_service *s, const struct gs_view *v, const void *none)
{
	struct open_turns open = { .t = s->tracing, .view = v, .list = json_array() };
	json_t *o = line("counters");

	gs_account_open(s->account, add_open, &open);
	json_object_set_new(o, "gpus", gs_sight_gpus_json(s));
	json_object_set_new(o, "open", open.list);
	json_object_set_new(o, "launches", launches(s, v));
	json_object_set_new(o, "log_lost", number(gs_account_counter(s->account, GS_ACC_LOST)));
	return o;
}

/* ---- what happens ------------------------------------------------------------------------------ */

void gs_trace_turn(struct gs_service *s, const struct gs_turn *turn)
{
	struct gs_tracing *t = s->tracing;
	const struct traced *of = t ? find(t, turn->id) : NULL;

	if (!of)
		return;
	t->turns[t->n].turn = *turn;
	t->turns[t->n++].uid = of->what.uid;
	if (t->n == TURNS_MAX)
		gs_trace_flush(s);
}

void gs_trace_flush(struct gs_service *s)
{
	if (!s->tracing || !s->tracing->n)
		return;
	gs_watch_trace(s, turns_line, NULL);
	s->tracing->n = 0;
}

void gs_trace_record(struct gs_service *s, const struct gpusched_tsg *rec)
{
	struct gs_tracing *t = s->tracing;
	struct traced_what what = {
		.pid = rec->task.pid,
		.uid = rec->task.uid,
		.gpu = rec->task.gpu,
		.class_id = rec->task.class_id,
	};
	struct traced *of;

	if (!t || rec->task.kind != GPUSCHED_KIND_COMPUTE)
		return;
	memcpy(what.comm, rec->task.comm, sizeof(what.comm));
	what.comm[sizeof(what.comm) - 1] = '\0';
	of = find(t, rec->task.id);
	if (of && !memcmp(&of->what, &what, sizeof(what)))
		return;
	if (!of) {
		of = calloc(1, sizeof(*of));
		if (!of)
			return;
		of->id = rec->task.id;
		of->key = rec->key;
		HASH_ADD(hh, t->tsgs, id, sizeof(of->id), of);
	}
	of->what = what;
	gs_watch_trace(s, tsg_line, of);
}

void gs_trace_ended(struct gs_service *s, const struct gs_end *end)
{
	struct traced *of = s->tracing ? find(s->tracing, end->id) : NULL;

	if (!of)
		return;
	HASH_DEL(s->tracing->tsgs, of);
	free(of);
}

static int on_tick(sd_event_source *src, uint64_t us, void *user)
{
	struct gs_service *s = user;
	uint64_t begin = gs_thread_cpu_ns(), cost;

	if (!gs_watch_traces(s)) {
		gs_trace_end(s);
		return 0;
	}
	gs_sight_flush(s);
	gs_watch_trace(s, counters_line, NULL);
	cost = (gs_thread_cpu_ns() - begin) * TICK_COST_FACTOR;
	sd_event_source_set_time(src, us + (cost > TICK_NS ? cost : TICK_NS) / NS_PER_US);
	return sd_event_source_set_enabled(src, SD_EVENT_ONESHOT);
}

/* ---- life -------------------------------------------------------------------------------------- */

static void take_all(struct gs_service *s)
{
	struct gpusched_tsg *recs = NULL;
	size_t n = 0;

	if (gs_table_all(s->o, &recs, &n))
		return;
	for (size_t i = 0; i < n; i++)
		gs_trace_record(s, &recs[i]);
	free(recs);
}

static int begin(struct gs_service *s)
{
	struct gs_tracing *t = calloc(1, sizeof(*t));
	int r;

	if (!t)
		return -ENOMEM;
	r = sd_event_add_time(s->event, &t->tick, CLOCK_MONOTONIC, gs_now_ns() / NS_PER_US, 1000,
			      on_tick, s);
	if (r < 0) {
		free(t);
		return r;
	}
	s->tracing = t;
	return 0;
}

int gs_trace_begin(struct gs_service *s)
{
	if (!s->account)
		return -ENOTSUP;
	return s->tracing ? 0 : begin(s);
}

void gs_trace_tell_all(struct gs_service *s, const struct gs_view *v, gs_watch_fn fn, void *user)
{
	json_t *o = first_line(s, v);

	fn(o, user);
	json_decref(o);
	take_all(s); /* those that nobody told yet */
	for (struct traced *t = s->tracing->tsgs; t; t = t->hh.next) {
		o = tsg_line(s, v, t);
		if (o)
			fn(o, user);
		json_decref(o);
	}
}

void gs_trace_end(struct gs_service *s)
{
	struct traced *t, *next;

	if (!s->tracing)
		return;
	HASH_ITER(hh, s->tracing->tsgs, t, next) {
		HASH_DEL(s->tracing->tsgs, t);
		free(t);
	}
	sd_event_source_disable_unref(s->tracing->tick);
	free(s->tracing);
	s->tracing = NULL;
}
