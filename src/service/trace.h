/* SPDX-License-Identifier: MIT */
/*
 * trace.h - what those who record are told beside the events
 */
#ifndef GPUSCHED_SERVICE_TRACE_H
#define GPUSCHED_SERVICE_TRACE_H

#include "account/account.h"
#include "service/service.h"

struct gs_end;
struct gs_service;
struct gs_view;

/* -ENOTSUP: nobody reads the GPUs' logs. */
int gs_trace_begin(struct gs_service *s);
void gs_trace_end(struct gs_service *s);
/* What there is, to one that begins. */
void gs_trace_tell_all(struct gs_service *s, const struct gs_view *v, gs_watch_fn fn, void *user);
void gs_trace_record(struct gs_service *s, const struct gpusched_tsg *rec);
void gs_trace_ended(struct gs_service *s, const struct gs_end *end);
void gs_trace_turn(struct gs_service *s, const struct gs_turn *turn);
/* Tells the turns that have come together. */
void gs_trace_flush(struct gs_service *s);

#endif /* GPUSCHED_SERVICE_TRACE_H */
