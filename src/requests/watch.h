/* SPDX-License-Identifier: MIT */
/*
 * watch.h - sends events to watchers
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

/* An observer's function: sends each watcher the part of @event that the watcher may see. */
void gs_watch_said(void *self, json_t *event, uid_t owner);
/*
 * Observers' functions: for an event from the taps (@rec is NULL) or from the service, and for a
 * call that the engine has made.
 */
void gs_watch_event(void *self, const struct gpusched_event *ev, const struct gpusched_tsg *rec);
void gs_watch_call(void *self, const struct gs_engine_call *call);
void gs_watch_free_all(struct gs_requests *rs);

#endif /* GPUSCHED_REQUESTS_WATCH_H */
