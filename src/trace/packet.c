// SPDX-License-Identifier: MIT
#include "trace/packet.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "basic/cleanup.h"

/* Field numbers from trace.proto. */
enum { TRACE_PACKET = 1 };
enum {
	PACKET_CLOCKS = 6,
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE = 10,
	PACKET_EVENT = 11,
	PACKET_FLAGS = 13,
	PACKET_DROPPED = 42,
	PACKET_CLOCK = 58,
	PACKET_TRACK = 60,
};
enum { CLOCKS_CLOCK = 1, CLOCKS_PRIMARY = 2, CLOCK_ID = 1, CLOCK_TIME = 2 };
enum { TRACK_UUID = 1, TRACK_NAME = 2, TRACK_PROCESS = 3, TRACK_PARENT = 5, TRACK_COUNTER = 8 };
enum { PROCESS_PID = 1, PROCESS_NAME = 6, COUNTER_UNIT = 6 };
enum {
	EVENT_NOTE = 4,
	EVENT_TYPE = 9,
	EVENT_TRACK = 11,
	EVENT_CATEGORY = 22,
	EVENT_NAME = 23,
	EVENT_VALUE = 44,
};
enum { NOTE_NUMBER = 4, NOTE_TEXT = 6, NOTE_NAME = 10 };

#define ID_REALTIME 1
#define ID_MONOTONIC 3
#define ID_BOOTTIME 6
#define SEQUENCE 1       /* id of the only writer */
#define FLAGS_CLEARED 1u /* flag: a reader ignores the state of all packets before this one */

/* ---- writing --------------------------------------------------------------------------------- */

static size_t begin(struct gs_pb *pb)
{
	size_t at = gs_pb_begin(pb, TRACE_PACKET);

	gs_pb_uint(pb, PACKET_SEQUENCE, SEQUENCE);
	return at;
}

static void put_clock(struct gs_pb *pb, uint32_t id, uint64_t ns)
{
	size_t at = gs_pb_begin(pb, CLOCKS_CLOCK);

	gs_pb_uint(pb, CLOCK_ID, id);
	gs_pb_uint(pb, CLOCK_TIME, ns);
	gs_pb_end(pb, at);
}

void gs_packet_put_clocks(struct gs_pb *pb, const struct gs_trace_clocks *clocks)
{
	size_t at = begin(pb), in;

	gs_pb_uint(pb, PACKET_FLAGS, FLAGS_CLEARED);
	in = gs_pb_begin(pb, PACKET_CLOCKS);
	put_clock(pb, ID_REALTIME, clocks->realtime_ns);
	put_clock(pb, ID_MONOTONIC, clocks->monotonic_ns);
	put_clock(pb, ID_BOOTTIME, clocks->boottime_ns);
	gs_pb_uint(pb, CLOCKS_PRIMARY, ID_MONOTONIC);
	gs_pb_end(pb, in);
	gs_pb_end(pb, at);
}

static void put_process(struct gs_pb *pb, const struct gs_trace_track *track)
{
	size_t at = gs_pb_begin(pb, TRACK_PROCESS);

	gs_pb_uint(pb, PROCESS_PID, track->pid);
	gs_pb_text(pb, PROCESS_NAME, track->name);
	gs_pb_end(pb, at);
}

static void put_counter(struct gs_pb *pb, const struct gs_trace_track *track)
{
	size_t at = gs_pb_begin(pb, TRACK_COUNTER);

	gs_pb_text(pb, COUNTER_UNIT, track->unit);
	gs_pb_end(pb, at);
}

void gs_packet_put_track(struct gs_pb *pb, const struct gs_trace_track *track)
{
	size_t at = begin(pb), in = gs_pb_begin(pb, PACKET_TRACK);

	gs_pb_uint(pb, TRACK_UUID, track->uuid);
	gs_pb_text(pb, TRACK_NAME, track->name);
	if (track->pid)
		put_process(pb, track);
	if (track->parent)
		gs_pb_uint(pb, TRACK_PARENT, track->parent);
	if (track->counter)
		put_counter(pb, track);
	gs_pb_end(pb, in);
	gs_pb_end(pb, at);
}

static void put_note(struct gs_pb *pb, const struct gs_trace_note *note)
{
	size_t at = gs_pb_begin(pb, EVENT_NOTE);

	gs_pb_text(pb, NOTE_NAME, note->name);
	if (note->text[0])
		gs_pb_text(pb, NOTE_TEXT, note->text);
	else
		gs_pb_uint(pb, NOTE_NUMBER, (uint64_t)note->number);
	gs_pb_end(pb, at);
}

void gs_packet_put_event(struct gs_pb *pb, const struct gs_trace_event *ev, bool dropped)
{
	size_t at = begin(pb), in;

	gs_pb_uint(pb, PACKET_TIMESTAMP, ev->ns);
	gs_pb_uint(pb, PACKET_CLOCK, ID_MONOTONIC);
	if (dropped)
		gs_pb_uint(pb, PACKET_DROPPED, true);
	in = gs_pb_begin(pb, PACKET_EVENT);
	gs_pb_uint(pb, EVENT_TYPE, ev->type);
	gs_pb_uint(pb, EVENT_TRACK, ev->track);
	if (ev->category[0])
		gs_pb_text(pb, EVENT_CATEGORY, ev->category);
	if (ev->name[0])
		gs_pb_text(pb, EVENT_NAME, ev->name);
	if (ev->type == GS_TRACE_COUNTER)
		gs_pb_double(pb, EVENT_VALUE, ev->value);
	for (size_t i = 0; i < ev->n; i++)
		put_note(pb, &ev->notes[i]);
	gs_pb_end(pb, in);
	gs_pb_end(pb, at);
}

static struct gs_trace_note *note(struct gs_trace_event *ev, const char *name)
{
	struct gs_trace_note *n = ev->n < GS_COUNT(ev->notes) ? &ev->notes[ev->n++] : NULL;

	if (n)
		snprintf(n->name, sizeof(n->name), "%s", name);
	return n;
}

void gs_packet_note_text(struct gs_trace_event *ev, const char *name, const char *text)
{
	struct gs_trace_note *n = note(ev, name);

	if (n)
		snprintf(n->text, sizeof(n->text), "%s", text);
}

void gs_packet_note_number(struct gs_trace_event *ev, const char *name, int64_t number)
{
	struct gs_trace_note *n = note(ev, name);

	if (!n)
		return;
	n->text[0] = '\0';
	n->number = number;
}

const struct gs_trace_note *gs_packet_find(const struct gs_trace_event *ev, const char *name)
{
	for (size_t i = 0; i < ev->n; i++)
		if (!strcmp(ev->notes[i].name, name))
			return &ev->notes[i];
	return NULL;
}

/* ---- reading --------------------------------------------------------------------------------- */

static void copy(char *to, size_t size, const struct gs_pb_field *f)
{
	size_t n = f->n < size - 1 ? f->n : size - 1;

	if (f->data)
		memcpy(to, f->data, n);
	to[f->data ? n : 0] = '\0';
}

/* Goes through all fields of a message. */
#define EACH_FIELD(of, f, r) \
	for (const uint8_t *at_ = (of)->data, *end_ = at_ + (of)->n; \
	     (r = gs_pb_next(&at_, end_, &(f))) > 0;)

static int parse_clock(const struct gs_pb_field *of, struct gs_trace_clocks *ret)
{
	uint64_t id = 0, ns = 0;
	struct gs_pb_field f;
	int r;

	EACH_FIELD(of, f, r)
	{
		if (f.number == CLOCK_ID)
			id = f.value;
		else if (f.number == CLOCK_TIME)
			ns = f.value;
	}
	if (id == ID_REALTIME)
		ret->realtime_ns = ns;
	else if (id == ID_MONOTONIC)
		ret->monotonic_ns = ns;
	else if (id == ID_BOOTTIME)
		ret->boottime_ns = ns;
	return r;
}

static int parse_clocks(const struct gs_pb_field *of, struct gs_trace_clocks *ret)
{
	struct gs_pb_field f;
	int r, bad = 0;

	EACH_FIELD(of, f, r)
	if (f.number == CLOCKS_CLOCK && f.wire == GS_PB_BYTES && !bad)
		bad = parse_clock(&f, ret);
	return r ? r : bad;
}

static int parse_process(const struct gs_pb_field *of, struct gs_trace_track *ret)
{
	struct gs_pb_field f;
	int r;

	EACH_FIELD(of, f, r)
	if (f.number == PROCESS_PID)
		ret->pid = (uint32_t)f.value;
	return r;
}

static int parse_track(const struct gs_pb_field *of, struct gs_trace_track *ret)
{
	struct gs_pb_field f;
	int r, bad = 0;

	EACH_FIELD(of, f, r)
	{
		if (f.number == TRACK_UUID)
			ret->uuid = f.value;
		else if (f.number == TRACK_PARENT)
			ret->parent = f.value;
		else if (f.number == TRACK_NAME)
			copy(ret->name, sizeof(ret->name), &f);
		else if (f.number == TRACK_COUNTER)
			ret->counter = true;
		else if (f.number == TRACK_PROCESS && f.wire == GS_PB_BYTES && !bad)
			bad = parse_process(&f, ret);
	}
	return r ? r : bad;
}

static int parse_note(const struct gs_pb_field *of, struct gs_trace_event *ev)
{
	struct gs_trace_note n = { 0 };
	struct gs_pb_field f;
	int r;

	EACH_FIELD(of, f, r)
	{
		if (f.number == NOTE_NAME)
			copy(n.name, sizeof(n.name), &f);
		else if (f.number == NOTE_TEXT)
			copy(n.text, sizeof(n.text), &f);
		else if (f.number == NOTE_NUMBER)
			n.number = (int64_t)f.value;
	}
	if (ev->n < GS_COUNT(ev->notes))
		ev->notes[ev->n++] = n;
	return r;
}

static int parse_event(const struct gs_pb_field *of, struct gs_trace_event *ret)
{
	struct gs_pb_field f;
	int r, bad = 0;

	EACH_FIELD(of, f, r)
	{
		if (f.number == EVENT_TYPE)
			ret->type = (enum gs_trace_type)f.value;
		else if (f.number == EVENT_TRACK)
			ret->track = f.value;
		else if (f.number == EVENT_NAME)
			copy(ret->name, sizeof(ret->name), &f);
		else if (f.number == EVENT_CATEGORY)
			copy(ret->category, sizeof(ret->category), &f);
		else if (f.number == EVENT_VALUE && f.wire == GS_PB_64)
			ret->value = gs_pb_as_double(&f);
		else if (f.number == EVENT_NOTE && f.wire == GS_PB_BYTES && !bad)
			bad = parse_note(&f, ret);
	}
	return r ? r : bad;
}

static int parse_part(const struct gs_pb_field *f, struct gs_trace_packet *ret)
{
	if (f->wire != GS_PB_BYTES)
		return 0;
	switch (f->number) {
	case PACKET_CLOCKS:
		ret->kind = GS_TRACE_CLOCKS;
		return parse_clocks(f, &ret->clocks);
	case PACKET_TRACK:
		ret->kind = GS_TRACE_TRACK;
		return parse_track(f, &ret->track);
	case PACKET_EVENT:
		ret->kind = GS_TRACE_EVENT;
		return parse_event(f, &ret->event);
	default:
		return 0;
	}
}

size_t gs_packet_whole(const uint8_t *data, size_t n)
{
	const uint8_t *at = data;
	size_t whole = 0;
	struct gs_pb_field f;

	while (gs_pb_next(&at, data + n, &f) > 0)
		whole = (size_t)(at - data);
	return whole;
}

int gs_packet_parse(const uint8_t *data, size_t n, struct gs_trace_packet *ret)
{
	const struct gs_pb_field all = { .data = data, .n = n };
	struct gs_pb_field f;
	int r, bad = 0;

	*ret = (struct gs_trace_packet){ 0 };
	EACH_FIELD(&all, f, r)
	{
		if (f.number == PACKET_TIMESTAMP)
			ret->event.ns = f.value;
		else if (f.number == PACKET_DROPPED)
			ret->dropped = f.value;
		else if (!bad)
			bad = parse_part(&f, ret);
	}
	return r ? r : bad;
}
