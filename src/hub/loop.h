/* SPDX-License-Identifier: MIT */
/*
 * loop.h - runs the service's part of the event loop
 */
#ifndef GPUSCHED_HUB_LOOP_H
#define GPUSCHED_HUB_LOOP_H

#include <systemd/sd-event.h>

#include "basic/completion.h"
#include "basic/slices.h"

struct gs_hub;

/* Events for which a completion may wait. */
#define GS_ON_ENGINE (1u << 0)  /* calls came back */
#define GS_ON_TASK (1u << 1)    /* a task in a separate thread has ended (task.h) */
#define GS_ON_LOOKED (1u << 2)  /* a rescan of records is done */
#define GS_ON_METRICS (1u << 3) /* the text of the metrics is made */
#define GS_ON_PARK (1u << 4)    /* a process is where parking wanted it, or parking has failed */

int gs_loop_new(struct gs_hub *hub, struct gs_error *err);
void gs_loop_free(struct gs_hub *hub);
/* Makes a timer that is off until a time is set (ns, CLOCK_MONOTONIC). UINT64_MAX turns it off. */
int gs_loop_timer(struct gs_hub *hub, sd_event_time_handler_t fn, void *user,
		  sd_event_source **ret);
void gs_loop_plan(sd_event_source *src, uint64_t at);
/*
 * Sets the timer to the heartbeat that is next to @at: at most 250 ms earlier or later. A processor
 * that sleeps is then woken once for all that is due about then. For timers of a second or more, if
 * the functions read the clock.
 */
void gs_loop_plan_about(sd_event_source *src, uint64_t at);
/*
 * Runs one iteration; waits @ms at most (-1: no limit). Returns 0, -EINTR after a signal, or
 * -errno.
 */
int gs_loop_run(struct gs_hub *hub, int ms);
/* Writes the heartbeat, for long work that keeps the loop from doing it. */
void gs_loop_beat(struct gs_hub *hub);
/* Queues work that is done in slices. @again: put it before the same user's other work. */
void gs_loop_slice(struct gs_hub *hub, struct gs_sliced *w, bool again);
/*
 * Runs the loop until @c is over. For the start, the end and the library, where nobody else waits.
 */
void gs_loop_finish(struct gs_hub *hub, struct gs_completion *c);
/* Begins @c, then runs the loop until it is over. */
void gs_loop_wait(struct gs_hub *hub, struct gs_completion *c);
/* Runs the loop until the engine is idle, for @ms at most. */
void gs_loop_settle(struct gs_hub *hub, unsigned int ms);

#endif /* GPUSCHED_HUB_LOOP_H */
