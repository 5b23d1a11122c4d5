/* SPDX-License-Identifier: MIT */
/*
 * recorder.h - converts the daemon's stream (GET /v1/trace) into a recording's packets
 *
 * Pure. Memory grows with the number of live TSGs and processes, not with time. Each GPU has tracks
 * for its engine (which TSG had it), RM calls and counters. Each process and each TSG has a track
 * too, and so have the requests of a process that tells of them. The reason why a turn ended is
 * inferred (docs/account.md), and each turn says so.
 */
#ifndef GPUSCHED_TRACE_RECORDER_H
#define GPUSCHED_TRACE_RECORDER_H

#include <jansson.h>

#include "trace/packet.h"

struct gs_recorder;
int gs_recorder_new(struct gs_recorder **ret);
void gs_recorder_free(struct gs_recorder *r);

/* Converts one line of the stream, and appends packets to @out. 0 or -ENOMEM. */
int gs_recorder_line(struct gs_recorder *r, const json_t *line, struct gs_pb *out);
/* Sets the end of the recording: drops what begins after @ns, and clips turns there. */
void gs_recorder_stop(struct gs_recorder *r, uint64_t ns);
/* Writes the turns that have not ended. */
int gs_recorder_end(struct gs_recorder *r, struct gs_pb *out);

struct gs_recorder_sums {
	uint64_t turns, events;
	uint64_t missed;   /* lines that the daemon dropped, since we read too slowly */
	uint64_t log_lost; /* records that the GPUs' logs lost during the recording */
	uint64_t begin_ns; /* start of the recording; 0: not known yet */
	uint64_t seen_ns;  /* all events up to this time have arrived */
	bool log;          /* true: the log of some GPU was open */
	char reason[160];  /* why no log was open; "": not known */
};
void gs_recorder_sums(const struct gs_recorder *r, struct gs_recorder_sums *ret);

#endif /* GPUSCHED_TRACE_RECORDER_H */
