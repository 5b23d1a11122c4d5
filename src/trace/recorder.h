/* SPDX-License-Identifier: MIT */
/*
 * recorder.h - turns the daemon's stream (GET /v1/trace) into a recording's packets
 *
 * Pure. Memory grows with the TSGs and processes that live, not with time. There are tracks for
 * each GPU's engine (which TSG had it), RM calls and counters; for each process; and for each TSG.
 * The reason why a turn ended is inferred (docs/account.md); each turn says so.
 */
#ifndef GPUSCHED_TRACE_RECORDER_H
#define GPUSCHED_TRACE_RECORDER_H

#include <jansson.h>

#include "trace/packet.h"

struct gs_recorder;
int gs_recorder_new(struct gs_recorder **ret);
void gs_recorder_free(struct gs_recorder *r);

/* Takes one line of the stream, and adds its packets to @out. 0 or -ENOMEM. */
int gs_recorder_line(struct gs_recorder *r, const json_t *line, struct gs_pb *out);
/* Sets the end: from here on, only what began before @ns is recorded. */
void gs_recorder_stop(struct gs_recorder *r, uint64_t ns);
/* Writes turns that are not known to have ended. */
int gs_recorder_end(struct gs_recorder *r, struct gs_pb *out);

struct gs_recorder_sums {
	uint64_t turns, events;
	uint64_t missed;   /* lines that did not reach us because we were too slow */
	uint64_t log_lost; /* records that the GPUs' logs lost in this time */
	uint64_t begin_ns; /* 0: unknown yet */
	uint64_t seen_ns;  /* everything until this time has come */
	bool log;          /* a log of some GPU was open */
	char reason[160];  /* why no log was open; "": unknown */
};
void gs_recorder_sums(const struct gs_recorder *r, struct gs_recorder_sums *ret);

#endif /* GPUSCHED_TRACE_RECORDER_H */
