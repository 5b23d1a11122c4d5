/* SPDX-License-Identifier: MIT */
/*
 * trace.h - data for recordings beside the events
 *
 * The table is looked at for all readers together. Each reader is told in slices of its user's, and
 * no faster than it reads.
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

/* Tells it the first line. -ENOTSUP: nobody reads the GPUs' logs. */
int gs_trace_reader_new(struct gs_requests *rs, const struct gs_view *view,
			const struct gs_trace_to *to, struct gs_trace_reader **ret);
void gs_trace_reader_free(struct gs_trace_reader *r);
/* It has room again. */
void gs_trace_reader_go_on(struct gs_trace_reader *r);

void gs_trace_record(void *self, const struct gpusched_tsg *rec);
void gs_trace_ended(void *self, const struct gs_end *end);
void gs_trace_turn(void *self, const struct gs_turn *turn);
/* Tells the turns that have come together. */
void gs_trace_flush(void *self);
/* Readers hear no more. */
void gs_trace_end(struct gs_requests *rs);

#endif /* GPUSCHED_REQUESTS_TRACE_H */
