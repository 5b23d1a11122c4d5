/* SPDX-License-Identifier: MIT */
/*
 * counted_requests.h - requests of programs without an agent, while their launches are counted
 *
 * For processes of class lc and of the configuration's own classes. The probes write down launches,
 * waits and rests (launch/rests.h). The daemon learns from these how long a rest has to be to end a
 * request, and gets an event when one begins.
 */
#ifndef GPUSCHED_CONTROL_COUNTED_REQUESTS_H
#define GPUSCHED_CONTROL_COUNTED_REQUESTS_H

#include "gpusched/abi.h"

struct gs_control;
struct gs_told_requests;

/* For a daemon. Without memory for it nothing is known of such requests. */
void gs_counted_start(struct gs_control *ctl);
void gs_counted_end(struct gs_control *ctl);
/* The observer's functions. */
void gs_counted_tapped(void *self, const struct gpusched_event *ev);
void gs_counted_beat(void *self);
/*
 * The requests of a compute TSG's process, as its agent reports them or its counted launches show
 * them. NULL: neither does. Borrowed.
 */
struct gs_told_requests *gs_requests_of(const struct gs_control *ctl,
					const struct gpusched_tsg *rec);

#endif /* GPUSCHED_CONTROL_COUNTED_REQUESTS_H */
