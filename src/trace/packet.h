/* SPDX-License-Identifier: MIT */
/*
 * packet.h - writes and parses a recording's packets: tracks, and events on them (trace.proto)
 *
 * Pure: no file, no clock. Times are in ns of CLOCK_MONOTONIC.
 */
#ifndef GPUSCHED_TRACE_PACKET_H
#define GPUSCHED_TRACE_PACKET_H

#include "trace/pb.h"

#define GS_TRACE_NOTES 16
#define GS_TRACE_NAME 96

enum gs_trace_type {
	GS_TRACE_BEGIN = 1,
	GS_TRACE_END = 2,
	GS_TRACE_INSTANT = 3,
	GS_TRACE_COUNTER = 4,
};

/* A named fact about an event: a text, or a number if the text is empty. */
struct gs_trace_note {
	char name[32];
	char text[GS_TRACE_NAME];
	int64_t number;
};

struct gs_trace_event {
	uint64_t ns, track;
	enum gs_trace_type type;
	char name[GS_TRACE_NAME];
	char category[16];
	double value; /* value of a counter */
	struct gs_trace_note notes[GS_TRACE_NOTES];
	size_t n;
};

struct gs_trace_track {
	uint64_t uuid, parent; /* 0: none */
	char name[GS_TRACE_NAME];
	uint32_t pid; /* 0: the track belongs to no process */
	bool counter;
	char unit[16];
};

struct gs_trace_clocks {
	uint64_t monotonic_ns, realtime_ns, boottime_ns;
};

/* The kind of a packet. */
enum gs_trace_kind { GS_TRACE_OTHER, GS_TRACE_CLOCKS, GS_TRACE_TRACK, GS_TRACE_EVENT };

struct gs_trace_packet {
	enum gs_trace_kind kind;
	bool dropped; /* packets before this one were lost */
	struct gs_trace_clocks clocks;
	struct gs_trace_track track;
	struct gs_trace_event event;
};

/* Writes the packet that comes first in a recording. */
void gs_packet_put_clocks(struct gs_pb *pb, const struct gs_trace_clocks *clocks);
void gs_packet_put_track(struct gs_pb *pb, const struct gs_trace_track *track);
void gs_packet_put_event(struct gs_pb *pb, const struct gs_trace_event *ev, bool dropped);

/* Adds a note to an event. Cuts a text that is too long. */
void gs_packet_note_text(struct gs_trace_event *ev, const char *name, const char *text);
void gs_packet_note_number(struct gs_trace_event *ev, const char *name, int64_t number);
/* Finds an event's note by name; NULL: the event has no such note. */
const struct gs_trace_note *gs_packet_find(const struct gs_trace_event *ev, const char *name);

/* The length of the longest beginning of @data that consists of whole packets. */
size_t gs_packet_whole(const uint8_t *data, size_t n);
/* Parses one packet's bytes. 0 or -EBADMSG; unknown fields are skipped. */
int gs_packet_parse(const uint8_t *data, size_t n, struct gs_trace_packet *ret);

#endif /* GPUSCHED_TRACE_PACKET_H */
