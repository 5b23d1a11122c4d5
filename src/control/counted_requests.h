/* SPDX-License-Identifier: MIT */
/*
 * counted_requests.h - finds the requests of programs without an agent, while launches are counted
 *
 * For processes of class lc and of the configuration's own classes. The probes record launches,
 * waits and rests (launch/rests.h). From these the daemon learns how long a rest must be to end a
 * request. The daemon gets an event when a request begins.
 */
#ifndef GPUSCHED_CONTROL_COUNTED_REQUESTS_H
#define GPUSCHED_CONTROL_COUNTED_REQUESTS_H

#include "gpusched/abi.h"
#include "hub/processes.h"

struct gs_control;
struct gs_told_requests;

/* For a daemon. Without memory, the requests of these programs are not found. */
void gs_counted_start(struct gs_control *ctl);
void gs_counted_end(struct gs_control *ctl);
/* The observer's functions. */
void gs_counted_tapped(void *self, const struct gpusched_event *ev);
void gs_counted_process_changed(void *self, struct gs_process *p, enum gs_process_change what);
void gs_counted_process_ended(void *self, struct gs_process *p);
void gs_counted_beat(void *self);
/*
 * The requests of a TSG's process, from its agent or from counted launches. NULL: neither shows
 * any. Borrowed.
 */
struct gs_told_requests *gs_requests_of(const struct gs_control *ctl,
					const struct gpusched_tsg *rec);

#endif /* GPUSCHED_CONTROL_COUNTED_REQUESTS_H */
