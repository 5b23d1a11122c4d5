/* SPDX-License-Identifier: MIT */
/*
 * events.h - reads the events of the programs that fill the table
 */
#ifndef GPUSCHED_TABLE_EVENTS_H
#define GPUSCHED_TABLE_EVENTS_H

#include "table/table.h"

/*
 * Called for each event. Only one process may read: the daemon, or a command that holds the
 * instance's lock.
 */
typedef void (*gs_event_fn)(const struct gpusched_event *ev, void *user);
int gs_events_open(struct gs_table *t, gs_event_fn fn, void *user, struct gs_error *err);
int gs_events_fd(const struct gs_table *t); /* readable when there are events */
/*
 * Calls fn for each event; returns how many it handled, or -errno. 0: no event was waiting. One
 * call handles a limited number, so that a program which makes events fast cannot keep the caller
 * here.
 */
int gs_events_dispatch(struct gs_table *t);
/* Number of events that the ring can hold; 0: unknown. */
size_t gs_events_room(const struct gs_table *t);
/* The sum of a tap's counter over all CPUs, since the taps were turned on. */
int gs_events_counter(struct gs_table *t, enum gpusched_tap_counter which, uint64_t *ret);
/*
 * The real uid of the event's process. -ESRCH: the process has ended, and another process may have
 * its pid.
 */
int gs_event_uid(const struct gpusched_event *ev, uid_t *ret);
/* The event type's name in abi.h; NULL if @type is out of range. */
const char *gs_event_name(unsigned int type);

#endif /* GPUSCHED_TABLE_EVENTS_H */
