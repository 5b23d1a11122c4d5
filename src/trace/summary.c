// SPDX-License-Identifier: MIT
#include "trace/summary.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "basic/clock.h"
#include "basic/grow.h"
#include "basic/json_sheet.h"

struct process {
	UT_hash_handle hh;
	uint64_t track;
	uint32_t pid;
	int64_t uid;
	char comm[32], class[32];
	bool hidden;
	uint64_t held_ns, turns;
	uint64_t *waits;
	size_t nwaits, room;
};

struct summary {
	struct process *processes;
	uint64_t dropped;
	double dilate;
};

static const char *note_text(const struct gs_trace_event *ev, const char *name)
{
	const struct gs_trace_note *n = gs_packet_find(ev, name);

	return n ? n->text : "";
}

static struct process *process_of(struct summary *s, const struct gs_trace_track *track)
{
	struct process *p = NULL;

	HASH_FIND(hh, s->processes, &track->uuid, sizeof(track->uuid), p);
	if (p)
		return p;
	p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	p->track = track->uuid;
	p->pid = track->pid;
	HASH_ADD(hh, s->processes, track, sizeof(p->track), p);
	return p;
}

static int add_wait(struct process *p, uint64_t ns)
{
	if (GS_GROW(p->waits, p->room, p->nwaits + 1))
		return -ENOMEM;
	p->waits[p->nwaits++] = ns;
	return 0;
}

static int take_turn(struct summary *s, const struct gs_trace_item *item)
{
	struct process *p = process_of(s, item->process);
	const struct gs_trace_note *waited = gs_packet_find(item->event, "waited_ns");

	if (!p)
		return -ENOMEM;
	p->held_ns += item->end_ns - item->event->ns;
	p->turns += strcmp(note_text(item->event, "end_is"), "not seen") != 0;
	return waited ? add_wait(p, (uint64_t)waited->number) : 0;
}

static int take_tsg(struct summary *s, const struct gs_trace_item *item)
{
	struct process *p = process_of(s, item->process);
	const struct gs_trace_note *uid = gs_packet_find(item->event, "uid");

	if (!p)
		return -ENOMEM;
	snprintf(p->comm, sizeof(p->comm), "%.31s", note_text(item->event, "comm"));
	snprintf(p->class, sizeof(p->class), "%.31s", note_text(item->event, "class"));
	p->uid = uid ? uid->number : -1;
	p->hidden |= !strcmp(note_text(item->event, "turns"), "hidden");
	return 0;
}

static int take(const struct gs_trace_item *item, void *user)
{
	const char *category = item->event->category;
	const struct gs_trace_note *lost;
	struct summary *s = user;

	if (item->process && !strcmp(category, "turn"))
		return take_turn(s, item);
	if (item->process && !strcmp(category, "tsg"))
		return take_tsg(s, item);
	lost = !strcmp(category, "lost") ? gs_packet_find(item->event, "lost") : NULL;
	s->dropped += lost ? (uint64_t)lost->number : 0;
	if (!strcmp(category, "begin"))
		s->dilate = strtod(note_text(item->event, "dilate"), NULL);
	return 0;
}

/* ---- result ---------------------------------------------------------------------------------- */

static int by_length(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static int by_held(struct process *a, struct process *b)
{
	return (a->held_ns < b->held_ns) - (a->held_ns > b->held_ns);
}

static json_t *us_or_null(const struct summary *s, bool known, uint64_t ns)
{
	double dilate = s->dilate > 0 ? s->dilate : 1;

	return known ? json_integer((json_int_t)((double)ns / dilate / (double)NS_PER_US))
		     : json_null();
}

/*
 * A percentile of a process's waits, in us. The GPU's clock measured the waits, so they are not
 * divided by @dilate.
 */
static json_t *percentile(const struct process *p, unsigned int percent)
{
	size_t at = p->nwaits ? (p->nwaits * percent + 99) / 100 - 1 : 0;

	return p->nwaits ? json_integer((json_int_t)(p->waits[at] / NS_PER_US)) : json_null();
}

static json_t *process_json(const struct summary *s, struct process *p)
{
	/*
	 * without any turn the GPU time is unknown, not 0: the TSG may have worked before the log
	 * was opened
	 */
	bool known = !p->hidden && (p->turns || p->held_ns);
	json_t *o = json_object();

	if (p->nwaits)
		qsort(p->waits, p->nwaits, sizeof(*p->waits), by_length);
	json_object_set_new(o, "pid", json_integer(p->pid));
	json_object_set_new(o, "comm", gs_json_text(p->comm));
	json_object_set_new(o, "uid", p->uid < 0 ? json_null() : json_integer(p->uid));
	json_object_set_new(o, "class", p->class[0] ? gs_json_text(p->class) : json_null());
	json_object_set_new(o, "gpu_time_us", us_or_null(s, known, p->held_ns));
	json_object_set_new(o, "turns", known ? json_integer((json_int_t)p->turns) : json_null());
	json_object_set_new(o, "waits",
			    p->nwaits ? json_integer((json_int_t)p->nwaits) : json_null());
	json_object_set_new(o, "wait_p50_us", percentile(p, 50));
	json_object_set_new(o, "wait_p99_us", percentile(p, 99));
	json_object_set_new(o, "dropped", json_integer((json_int_t)s->dropped));
	return o;
}

int gs_trace_summary(FILE *in, json_t **ret_processes, struct gs_error *err)
{
	struct summary s = { 0 };
	struct process *p, *next;
	json_t *list = json_array();
	int r = gs_trace_read(in, take, NULL, &s, err);

	HASH_SORT(s.processes, by_held);
	HASH_ITER(hh, s.processes, p, next) {
		if (!r)
			json_array_append_new(list, process_json(&s, p));
		HASH_DEL(s.processes, p);
		free(p->waits);
		free(p);
	}
	if (r)
		json_decref(list);
	else
		*ret_processes = list;
	return r;
}
