/* SPDX-License-Identifier: MIT */
/*
 * trace.h - data for recordings beside the events
 *
 * The table is read once for all readers. Each reader gets its lines in its user's turns, no faster
 * than it reads them.
 */
#ifndef GPUSCHED_REQUESTS_TRACE_H
#define GPUSCHED_REQUESTS_TRACE_H

#include "account/account.h"
#include "basic/completion.h"
#include "hub/peer.h"
#include "requests/api.h"

struct gs_end;
struct gs_requests;
struct gs_view;
struct gs_trace_reader;

/* Sends the reader the first line. Returns -ENOTSUP if the GPUs' logs are not read. */
int gs_trace_reader_new(struct gs_requests *rs, const struct gs_view *view,
			const struct gs_trace_to *to, struct gs_trace_reader **ret);
void gs_trace_reader_free(struct gs_trace_reader *r);
/* The reader has room again. */
void gs_trace_reader_go_on(struct gs_trace_reader *r);

void gs_trace_record(void *self, const struct gpusched_tsg *rec);
void gs_trace_ended(void *self, const struct gs_end *end);
void gs_trace_turn(void *self, const struct gs_turn *turn);
/* Sends the turns that have come together. */
void gs_trace_flush(void *self);
/* From here on readers get nothing. */
void gs_trace_end(struct gs_requests *rs);

#endif /* GPUSCHED_REQUESTS_TRACE_H */
