// SPDX-License-Identifier: MIT
#include "trace/recorder.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/json_sheet.h"

#define MAX_GPUS 64

struct process {
	UT_hash_handle hh;
	uint32_t pid;
	uint64_t track;
	uint64_t requests; /* track of its requests; 0: not made yet */
	uint64_t request_end;
};

struct tsg {
	UT_hash_handle hh;
	uint64_t id;
	uint32_t pid, gpu;
	char comm[32], class[32];
	uint64_t track;
	uint64_t counter; /* track for the launch counter; 0: not made yet */
	int64_t launches; /* -1: unknown */
	bool gone;
};

struct gpu {
	uint64_t engine, calls, counters[3]; /* ids of tracks; 0: not made yet */
	uint64_t call_end;
	double sums[4]; /* held, lost, open and span at the last counter event */
};

struct turn {
	uint64_t id, start_ns, end_ns, waited_ns;
};

struct gs_recorder {
	struct gs_pb *out; /* where packets go while a line is handled */
	struct gpu gpus[MAX_GPUS];
	struct process *processes;
	struct tsg *tsgs;
	uint64_t root; /* track for everything that belongs to no process */
	uint64_t last_track;
	struct turn *open;
	size_t nopen;
	uint64_t stop_ns; /* time at which the recording ends; 0: not set */
	bool hole;        /* true: lines were lost, and the next packet must say so */
	uint64_t log_lost_first;
	bool has_log_lost;
	struct gs_recorder_sums sums;
};

static uint64_t number(const json_t *line, const char *key)
{
	return (uint64_t)json_integer_value(json_object_get(line, key));
}

static const char *text(const json_t *line, const char *key)
{
	const char *t = json_string_value(json_object_get(line, key));

	return t ? t : "";
}

/* ---- packets --------------------------------------------------------------------------------- */

static uint64_t new_track(struct gs_recorder *r, uint64_t parent, uint32_t pid, const char *unit,
			  const char *name)
{
	struct gs_trace_track t = { .uuid = ++r->last_track, .parent = parent, .pid = pid };

	t.counter = unit != NULL;
	snprintf(t.unit, sizeof(t.unit), "%s", unit ? unit : "");
	snprintf(t.name, sizeof(t.name), "%s", name);
	gs_packet_put_track(r->out, &t);
	return t.uuid;
}

static void put(struct gs_recorder *r, const struct gs_trace_event *ev)
{
	gs_packet_put_event(r->out, ev, r->hole);
	r->hole = false;
}

static void put_slice(struct gs_recorder *r, struct gs_trace_event *ev, uint64_t end_ns)
{
	struct gs_trace_event end = { .ns = end_ns, .track = ev->track, .type = GS_TRACE_END };

	ev->type = GS_TRACE_BEGIN;
	put(r, ev);
	put(r, &end);
}

static void put_counter(struct gs_recorder *r, uint64_t track, uint64_t ns, double value)
{
	put(r, &(struct gs_trace_event){
		       .ns = ns, .track = track, .type = GS_TRACE_COUNTER, .value = value });
}

static struct gpu *gpu_of(struct gs_recorder *r, uint64_t index)
{
	static const char *const counters[] = { "held", "lost in switches", "open" };
	struct gpu *g = index < MAX_GPUS ? &r->gpus[index] : NULL;
	char name[GS_TRACE_NAME];

	if (!g || g->engine)
		return g;
	snprintf(name, sizeof(name), "GPU %" PRIu64 ": who has it", index);
	g->engine = new_track(r, 0, 0, NULL, name);
	snprintf(name, sizeof(name), "GPU %" PRIu64 ": RM calls of gpusched", index);
	g->calls = new_track(r, 0, 0, NULL, name);
	for (size_t i = 0; i < 3; i++) {
		snprintf(name, sizeof(name), "GPU %" PRIu64 ": %s", index, counters[i]);
		g->counters[i] = new_track(r, 0, 0, "%", name);
	}
	return g;
}

/* NULL: out of memory. */
static struct process *process_of(struct gs_recorder *r, uint32_t pid, const char *comm)
{
	struct process *p = NULL;

	HASH_FIND(hh, r->processes, &pid, sizeof(pid), p);
	if (p)
		return p;
	p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	p->pid = pid;
	p->track = new_track(r, 0, pid, NULL, comm);
	HASH_ADD(hh, r->processes, pid, sizeof(p->pid), p);
	return p;
}

static uint64_t process_track(struct gs_recorder *r, uint32_t pid, const char *comm)
{
	const struct process *p = process_of(r, pid, comm);

	return p ? p->track : r->root;
}

static struct tsg *tsg_of(const struct gs_recorder *r, uint64_t id)
{
	struct tsg *t = NULL;

	HASH_FIND(hh, r->tsgs, &id, sizeof(id), t);
	return t;
}

/* ---- turns ----------------------------------------------------------------------------------- */

/* Clips a turn to the recorded time. False: the turn lies outside. */
static bool cut(const struct gs_recorder *r, uint64_t *start, uint64_t *end)
{
	if (*start < r->sums.begin_ns)
		*start = r->sums.begin_ns;
	if (r->stop_ns && *end > r->stop_ns)
		*end = r->stop_ns;
	return *start < *end;
}

static const char *why(const char *end, bool over)
{
	if (!over)
		return "goes on";
	return !strcmp(end, "slice")     ? "slice over"
	       : !strcmp(end, "drained") ? "drained"
					 : "unknown";
}

/* Writes the recorded part of a turn. @over: the turn ended within the recorded time. */
static void put_turn(struct gs_recorder *r, const struct tsg *t, const struct turn *turn,
		     const char *reason, bool over)
{
	uint64_t start = turn->start_ns, end = turn->end_ns;
	struct gs_trace_event ev = { .track = t->track };
	const struct gpu *g = gpu_of(r, t->gpu);

	if (!cut(r, &start, &end))
		return;
	ev.ns = start;
	snprintf(ev.category, sizeof(ev.category), "turn");
	snprintf(ev.name, sizeof(ev.name), "%s", reason);
	gs_packet_note_number(&ev, "pid", t->pid);
	gs_packet_note_text(&ev, "comm", t->comm);
	if (t->class[0])
		gs_packet_note_text(&ev, "class", t->class);
	gs_packet_note_number(&ev, "tsg", (int64_t)t->id);
	gs_packet_note_number(&ev, "gpu", t->gpu);
	gs_packet_note_text(&ev, "end", reason);
	gs_packet_note_text(&ev, "end_is", over ? "inferred" : "not seen");
	if (turn->waited_ns && start == turn->start_ns)
		gs_packet_note_number(&ev, "waited_ns", (int64_t)turn->waited_ns);
	put_slice(r, &ev, end);
	ev = (struct gs_trace_event){ .ns = start, .track = g ? g->engine : r->root };
	snprintf(ev.category, sizeof(ev.category), "engine");
	snprintf(ev.name, sizeof(ev.name), "%s %" PRIu32, t->comm, t->pid);
	put_slice(r, &ev, end);
	r->sums.turns += over;
}

static struct turn turn_of(const json_t *turn, size_t waited_at)
{
	return (struct turn){
		.id = (uint64_t)json_integer_value(json_array_get(turn, 0)),
		.start_ns = (uint64_t)json_integer_value(json_array_get(turn, 1)),
		.end_ns = (uint64_t)json_integer_value(json_array_get(turn, 2)),
		.waited_ns = (uint64_t)json_integer_value(json_array_get(turn, waited_at)),
	};
}

static void take_turn(struct gs_recorder *r, const json_t *turn)
{
	const struct turn is = turn_of(turn, 5);
	const char *reason = json_string_value(json_array_get(turn, 4));
	bool over = !r->stop_ns || is.end_ns <= r->stop_ns;
	const struct tsg *t = tsg_of(r, is.id);

	for (size_t i = r->nopen; i-- > 0;)
		if (r->open[i].id == is.id && r->open[i].start_ns <= is.end_ns)
			r->open[i] = r->open[--r->nopen];
	if (t)
		put_turn(r, t, &is, why(reason ? reason : "", over), over);
}

static int take_turns(struct gs_recorder *r, const json_t *line)
{
	const json_t *turn;
	size_t i;

	json_array_foreach(json_object_get(line, "turns"), i, turn)
		take_turn(r, turn);
	return 0;
}

/* ---- requests -------------------------------------------------------------------------------- */

/*
 * Writes a request as a slice. Its notes are those of the whole request, even if the recorded part
 * is shorter. Slices of one track must not overlap, so a request begins after the one before.
 */
static void take_request(struct gs_recorder *r, const json_t *request)
{
	static const char *const notes[] = { "itself_ns", "others_ns", "neither_ns", "unknown_ns" };
	const struct tsg *t = tsg_of(r, (uint64_t)json_integer_value(json_array_get(request, 0)));
	uint64_t start = (uint64_t)json_integer_value(json_array_get(request, 1)),
		 end = (uint64_t)json_integer_value(json_array_get(request, 2));
	struct process *p = t ? process_of(r, t->pid, t->comm) : NULL;
	struct gs_trace_event ev = { 0 };

	if (!p)
		return;
	gs_packet_note_number(&ev, "took_ns", (int64_t)(end - start));
	for (size_t i = 0; i < GS_COUNT(notes); i++)
		gs_packet_note_number(&ev, notes[i],
				      json_integer_value(json_array_get(request, i + 3)));
	if (start < p->request_end)
		start = p->request_end;
	if (!cut(r, &start, &end))
		return;
	if (!p->requests)
		p->requests = new_track(r, p->track, 0, NULL, "requests");
	p->request_end = end;
	ev.ns = start;
	ev.track = p->requests;
	snprintf(ev.category, sizeof(ev.category), "request");
	snprintf(ev.name, sizeof(ev.name), "request");
	put_slice(r, &ev, end);
}

static int take_requests(struct gs_recorder *r, const json_t *line)
{
	const json_t *request;
	size_t i;

	json_array_foreach(json_object_get(line, "requests"), i, request)
		take_request(r, request);
	return 0;
}

/* ---- counters -------------------------------------------------------------------------------- */

static int take_open(struct gs_recorder *r, const json_t *list)
{
	size_t n = json_array_size(list);
	struct turn *open = calloc(n ? n : 1, sizeof(*open));

	if (!open)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		open[i] = turn_of(json_array_get(list, i), 3);
	free(r->open);
	r->open = open;
	r->nopen = n;
	return 0;
}

static void take_gpu(struct gs_recorder *r, const json_t *gpu, uint64_t ns)
{
	static const char *const keys[] = { "held_ns", "lost_ns", "open_ns", "span_ns" };
	struct gpu *g = gpu_of(r, number(gpu, "gpu"));
	double now[4];

	if (json_is_true(json_object_get(gpu, "log")))
		r->sums.log = true;
	else
		snprintf(r->sums.reason, sizeof(r->sums.reason), "%s", text(gpu, "reason"));
	if (!g || !json_is_integer(json_object_get(gpu, "span_ns")))
		return;
	for (size_t i = 0; i < 4; i++)
		now[i] = (double)number(gpu, keys[i]);
	for (size_t i = 0; i < 3 && g->sums[3] > 0 && now[3] > g->sums[3]; i++)
		put_counter(r, g->counters[i], ns,
			    100 * (now[i] - g->sums[i]) / (now[3] - g->sums[3]));
	memcpy(g->sums, now, sizeof(now));
}

static void take_launches(struct gs_recorder *r, const json_t *list, uint64_t ns)
{
	const json_t *one;
	size_t i;

	json_array_foreach(list, i, one) {
		struct tsg *t = tsg_of(r, (uint64_t)json_integer_value(json_array_get(one, 0)));
		int64_t n = json_integer_value(json_array_get(one, 1));
		char name[GS_TRACE_NAME];

		if (!t || t->launches == n)
			continue;
		if (!t->counter) {
			snprintf(name, sizeof(name), "tsg %" PRIu64 " launches", t->id);
			t->counter = new_track(r, process_track(r, t->pid, t->comm), 0, "launches",
					       name);
		}
		put_counter(r, t->counter, ns, (double)n);
		t->launches = n;
	}
}

static void forget_gone(struct gs_recorder *r)
{
	struct tsg *t, *next;

	HASH_ITER(hh, r->tsgs, t, next) {
		if (!t->gone)
			continue;
		HASH_DEL(r->tsgs, t);
		free(t);
	}
}

static void tell_lost(struct gs_recorder *r, uint64_t ns, const char *what, uint64_t n)
{
	struct gs_trace_event ev = { .ns = ns, .track = r->root, .type = GS_TRACE_INSTANT };

	snprintf(ev.category, sizeof(ev.category), "lost");
	snprintf(ev.name, sizeof(ev.name), "lost: %s", what);
	gs_packet_note_number(&ev, "lost", (int64_t)n);
	r->hole = true;
	put(r, &ev);
}

static void take_log_lost(struct gs_recorder *r, uint64_t ns, uint64_t lost)
{
	if (!r->has_log_lost)
		r->log_lost_first = lost;
	r->has_log_lost = true;
	if (lost - r->log_lost_first == r->sums.log_lost)
		return;
	tell_lost(r, ns, "records of a GPU's log", lost - r->log_lost_first - r->sums.log_lost);
	r->sums.log_lost = lost - r->log_lost_first;
}

static int take_counters(struct gs_recorder *r, const json_t *line)
{
	uint64_t ns = number(line, "time_ns");
	const json_t *gpu;
	size_t i;

	r->sums.seen_ns = ns;
	if (r->stop_ns && ns > r->stop_ns)
		ns = r->stop_ns;
	json_array_foreach(json_object_get(line, "gpus"), i, gpu)
		take_gpu(r, gpu, ns);
	take_launches(r, json_object_get(line, "launches"), ns);
	take_log_lost(r, ns, number(line, "log_lost"));
	forget_gone(r);
	return take_open(r, json_object_get(line, "open"));
}

/* ---- events ---------------------------------------------------------------------------------- */

static int take_first(struct gs_recorder *r, const json_t *line)
{
	struct gs_trace_event ev = { .type = GS_TRACE_INSTANT };
	const struct gs_trace_clocks clocks = {
		.monotonic_ns = number(line, "time_ns"),
		.realtime_ns = number(line, "realtime_ns"),
		.boottime_ns = number(line, "boottime_ns"),
	};
	char dilate[32];
	const json_t *gpu;
	size_t i;

	if (r->sums.begin_ns)
		return 0;
	r->sums.begin_ns = r->sums.seen_ns = clocks.monotonic_ns;
	gs_packet_put_clocks(r->out, &clocks);
	r->root = new_track(r, 0, 0, NULL, "gpusched");
	ev.ns = clocks.monotonic_ns;
	ev.track = r->root;
	snprintf(ev.name, sizeof(ev.name), "recording begins");
	snprintf(ev.category, sizeof(ev.category), "begin");
	snprintf(dilate, sizeof(dilate), "%g", json_number_value(json_object_get(line, "dilate")));
	gs_packet_note_text(&ev, "dilate", dilate);
	gs_packet_note_text(&ev, "other_users",
			    json_is_true(json_object_get(line, "others")) ? "shown" : "hidden");
	put(r, &ev);
	json_array_foreach(json_object_get(line, "gpus"), i, gpu)
		take_gpu(r, gpu, clocks.monotonic_ns);
	return 0;
}

static struct tsg *tsg_new(struct gs_recorder *r, const json_t *line)
{
	struct tsg *t = calloc(1, sizeof(*t));
	char name[GS_TRACE_NAME];

	if (!t)
		return NULL;
	t->id = number(line, "id");
	t->pid = (uint32_t)number(line, "pid");
	t->launches = -1;
	snprintf(name, sizeof(name), "tsg %" PRIu64, t->id);
	t->track = new_track(r, process_track(r, t->pid, text(line, "comm")), 0, NULL, name);
	HASH_ADD(hh, r->tsgs, id, sizeof(t->id), t);
	return t;
}

static int take_tsg(struct gs_recorder *r, const json_t *line)
{
	struct gs_trace_event ev = { .type = GS_TRACE_INSTANT };
	struct tsg *t = tsg_of(r, number(line, "id"));
	bool is_new = !t;

	if (!t)
		t = tsg_new(r, line);
	if (!t)
		return -ENOMEM;
	t->gpu = (uint32_t)number(line, "gpu");
	snprintf(t->comm, sizeof(t->comm), "%s", text(line, "comm"));
	snprintf(t->class, sizeof(t->class), "%s", text(line, "class"));
	ev.ns = is_new && number(line, "time_ns") < r->sums.begin_ns ? r->sums.begin_ns
								     : number(line, "time_ns");
	ev.track = t->track;
	snprintf(ev.category, sizeof(ev.category), "tsg");
	snprintf(ev.name, sizeof(ev.name), "%s", is_new ? "seen" : "changed");
	gs_packet_note_number(&ev, "pid", t->pid);
	gs_packet_note_number(&ev, "uid", (int64_t)number(line, "uid"));
	gs_packet_note_text(&ev, "comm", t->comm);
	if (t->class[0])
		gs_packet_note_text(&ev, "class", t->class);
	gs_packet_note_text(&ev, "turns",
			    json_is_true(json_object_get(line, "turns")) ? "shown" : "hidden");
	put(r, &ev);
	return 0;
}

/* Adds all members of @line except event and time_ns as notes. */
static void note_rest(struct gs_trace_event *ev, const json_t *line)
{
	const char *key, *inner;
	json_t *v, *w;

	json_object_foreach((json_t *)line, key, v) {
		char name[GS_TRACE_NAME];

		if (!strcmp(key, "event") || !strcmp(key, "time_ns"))
			continue;
		if (json_is_string(v))
			gs_packet_note_text(ev, key, json_string_value(v));
		else if (json_is_integer(v))
			gs_packet_note_number(ev, key, json_integer_value(v));
		else if (json_is_boolean(v))
			gs_packet_note_text(ev, key, json_is_true(v) ? "yes" : "no");
		json_object_foreach(json_is_object(v) ? v : NULL, inner, w) {
			snprintf(name, sizeof(name), "%s.%s", key, inner);
			if (json_is_integer(w))
				gs_packet_note_number(ev, name, json_integer_value(w));
			else if (json_is_string(w))
				gs_packet_note_text(ev, name, json_string_value(w));
			else if (json_is_boolean(w))
				gs_packet_note_text(ev, name, json_is_true(w) ? "yes" : "no");
		}
	}
}

/*
 * Writes an RM call as a slice. The line comes when the call has ended, so the start is computed.
 * It is moved past the end of the previous call, so that two calls never overlap.
 */
static void put_call(struct gs_recorder *r, const json_t *line, struct gs_trace_event *ev)
{
	struct gpu *g = gpu_of(r, number(line, "gpu"));
	uint64_t end = ev->ns;

	if (!g || !json_is_integer(json_object_get(line, "call_ns")))
		return;
	ev->ns -= number(line, "call_ns");
	if (ev->ns < g->call_end)
		ev->ns = g->call_end;
	if (ev->ns < r->sums.begin_ns)
		ev->ns = r->sums.begin_ns;
	ev->track = g->calls;
	g->call_end = end;
	if (ev->ns < end)
		put_slice(r, ev, end);
}

static void forget_process(struct gs_recorder *r, uint32_t pid)
{
	struct process *p = NULL;

	HASH_FIND(hh, r->processes, &pid, sizeof(pid), p);
	if (!p)
		return;
	HASH_DEL(r->processes, p);
	free(p);
}

static int take_event(struct gs_recorder *r, const json_t *line)
{
	struct gs_trace_event ev = { .type = GS_TRACE_INSTANT, .ns = number(line, "time_ns") };
	uint32_t pid = (uint32_t)number(line, "pid");
	struct tsg *t = tsg_of(r, number(line, "id"));
	const char *name = text(line, "event");

	if (ev.ns < r->sums.begin_ns || (r->stop_ns && ev.ns > r->stop_ns))
		return 0;
	r->sums.events++;
	snprintf(ev.category, sizeof(ev.category), "%.15s", name);
	snprintf(ev.name, sizeof(ev.name), "%s%s%s", name, text(line, "call")[0] ? " " : "",
		 text(line, "call"));
	note_rest(&ev, line);
	ev.track = t ? t->track : pid ? process_track(r, pid, text(line, "comm")) : r->root;
	if (!strcmp(name, "call"))
		put_call(r, line, &ev);
	else
		put(r, &ev);
	if (t && !strcmp(name, "tsg-free"))
		t->gone = true; /* the TSG's last turn may still come in the log */
	if (!strcmp(name, "exit"))
		forget_process(r, pid);
	return 0;
}

static int take_missed(struct gs_recorder *r, const json_t *line)
{
	r->sums.missed += number(line, "lines");
	tell_lost(r, r->sums.seen_ns, "lines of the daemon's stream", number(line, "lines"));
	return 0;
}

int gs_recorder_line(struct gs_recorder *r, const json_t *line, struct gs_pb *out)
{
	const char *event = text(line, "event");
	int code;

	r->out = out;
	if (!strcmp(event, "trace"))
		code = take_first(r, line);
	else if (!r->sums.begin_ns)
		code = 0;
	else if (!strcmp(event, "tsg"))
		code = take_tsg(r, line);
	else if (!strcmp(event, "turns"))
		code = take_turns(r, line);
	else if (!strcmp(event, "requests"))
		code = take_requests(r, line);
	else if (!strcmp(event, "counters"))
		code = take_counters(r, line);
	else if (!strcmp(event, "missed"))
		code = take_missed(r, line);
	else
		code = take_event(r, line);
	return code ? code : out->failed ? -ENOMEM : 0;
}

/* ---- beginning and end ----------------------------------------------------------------------- */

void gs_recorder_stop(struct gs_recorder *r, uint64_t ns)
{
	r->stop_ns = ns;
}

int gs_recorder_end(struct gs_recorder *r, struct gs_pb *out)
{
	struct gs_trace_event ev = { .type = GS_TRACE_INSTANT, .track = r->root };

	r->out = out;
	if (!r->sums.begin_ns)
		return 0;
	for (size_t i = 0; i < r->nopen; i++) {
		const struct tsg *t = tsg_of(r, r->open[i].id);

		if (t)
			put_turn(r, t, &r->open[i], why("", false), false);
	}
	ev.ns = r->stop_ns && r->stop_ns < r->sums.seen_ns ? r->stop_ns : r->sums.seen_ns;
	snprintf(ev.name, sizeof(ev.name), "recording ends");
	snprintf(ev.category, sizeof(ev.category), "end");
	put(r, &ev);
	return out->failed ? -ENOMEM : 0;
}

void gs_recorder_sums(const struct gs_recorder *r, struct gs_recorder_sums *ret)
{
	*ret = r->sums;
}

int gs_recorder_new(struct gs_recorder **ret)
{
	struct gs_recorder *r = calloc(1, sizeof(*r));

	if (!r)
		return -ENOMEM;
	*ret = r;
	return 0;
}

void gs_recorder_free(struct gs_recorder *r)
{
	struct process *p, *next;
	struct tsg *t;

	if (!r)
		return;
	for (t = r->tsgs; t; t = t->hh.next)
		t->gone = true;
	forget_gone(r);
	HASH_ITER(hh, r->processes, p, next) {
		HASH_DEL(r->processes, p);
		free(p);
	}
	free(r->open);
	free(r);
}
