/* SPDX-License-Identifier: MIT */
/*
 * trace.h - sends the data for recordings: TSGs, turns and counters
 *
 * On each tick, the table is read once for all readers. A reader's lines are written in slices of
 * its user's time, and no faster than the reader takes them.
 */
#ifndef GPUSCHED_REQUESTS_TRACE_H
#define GPUSCHED_REQUESTS_TRACE_H

#include "account/account.h"
#include "basic/completion.h"
#include "hub/peer.h"
#include "requests/api.h"

struct gs_end;
struct gs_request_split;
struct gs_requests;
struct gs_view;
struct gs_trace_reader;

/* Adds a reader, and sends it the first line. -ENOTSUP: this instance reads no GPU's log. */
int gs_trace_reader_new(struct gs_requests *rs, const struct gs_view *view,
			const struct gs_trace_to *to, struct gs_trace_reader **ret);
void gs_trace_reader_free(struct gs_trace_reader *r);
/* Call this when the reader's buffer has room again. */
void gs_trace_reader_go_on(struct gs_trace_reader *r);

/* Observers' functions for a new or changed TSG, for the end of a TSG, and the end of a turn. */
void gs_trace_record(void *self, const struct gpusched_tsg *rec);
void gs_trace_ended(void *self, const struct gs_end *end);
void gs_trace_turn(void *self, const struct gs_turn *turn);
/* The observer's function for requests and their parts. */
void gs_trace_request(void *self, const struct gs_request_split *split);
/* Sends the turns and requests collected so far. */
void gs_trace_flush(void *self);
/* Ends all recordings: readers get no more lines. */
void gs_trace_end(struct gs_requests *rs);

#endif /* GPUSCHED_REQUESTS_TRACE_H */
