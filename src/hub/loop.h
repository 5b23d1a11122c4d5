/* SPDX-License-Identifier: MIT */
/*
 * loop.h - the service's part of the event loop
 */
#ifndef GPUSCHED_HUB_LOOP_H
#define GPUSCHED_HUB_LOOP_H

#include <systemd/sd-event.h>

#include "basic/completion.h"
#include "basic/slices.h"

struct gs_hub;

/* A completion may wait for one of these. */
#define GS_ON_ENGINE (1u << 0)  /* calls came back */
#define GS_ON_ERRAND (1u << 1)  /* one has ended */
#define GS_ON_LOOKED (1u << 2)  /* at records */
#define GS_ON_METRICS (1u << 3) /* their text is made */
#define GS_ON_PARK (1u << 4)    /* a process is where parking wanted it, or cannot be */

int gs_loop_new(struct gs_hub *hub, struct gs_error *err);
void gs_loop_free(struct gs_hub *hub);
/* A timer that is off until it is given a time: ns, CLOCK_MONOTONIC; UINT64_MAX: off again. */
int gs_loop_timer(struct gs_hub *hub, sd_event_time_handler_t fn, void *user,
		  sd_event_source **ret);
void gs_loop_plan(sd_event_source *src, uint64_t at);
/* One turn; waits @ms at most (-1: no limit). 0, -EINTR: a signal came, -errno. */
int gs_loop_run(struct gs_hub *hub, int ms);
/* The heartbeat, for what works on without a turn of the loop. */
void gs_loop_beat(struct gs_hub *hub);
/* Work in slices; @again: before what else there is of the same user. */
void gs_loop_slice(struct gs_hub *hub, struct gs_sliced *w, bool again);
/* Runs the loop until @c is over. For start, end and library, where nobody else waits. */
void gs_loop_finish(struct gs_hub *hub, struct gs_completion *c);
/* Begins it before. */
void gs_loop_wait(struct gs_hub *hub, struct gs_completion *c);
/* The same until the engine is idle, for @ms at most. */
void gs_loop_settle(struct gs_hub *hub, unsigned int ms);

#endif /* GPUSCHED_HUB_LOOP_H */
