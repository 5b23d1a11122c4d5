/* SPDX-License-Identifier: MIT */
/*
 * watch.h - watchers of events, with or without a recording
 */
#ifndef GPUSCHED_REQUESTS_WATCH_H
#define GPUSCHED_REQUESTS_WATCH_H

#include <jansson.h>
#include <stdbool.h>
#include <sys/types.h>

struct gpusched_event;
struct gpusched_tsg;
struct gs_engine_call;
struct gs_requests;
struct gs_view;

/* The observer's function: shows each watcher what it may see of @event. */
void gs_watch_said(void *self, json_t *event, uid_t owner);
/*
 * The observer's functions for an event (of the taps if @rec is NULL, else of the service), and for
 * a call of the engine.
 */
void gs_watch_event(void *self, const struct gpusched_event *ev, const struct gpusched_tsg *rec);
void gs_watch_call(void *self, const struct gs_engine_call *call);
void gs_watch_free_all(struct gs_requests *rs);

#endif /* GPUSCHED_REQUESTS_WATCH_H */
