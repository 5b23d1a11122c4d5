/* SPDX-License-Identifier: MIT */
/*
 * launches.h - counts launches while a policy, a person or the configuration wants it
 */
#ifndef GPUSCHED_CONTROL_LAUNCHES_H
#define GPUSCHED_CONTROL_LAUNCHES_H

#include <jansson.h>

#include "process/reader.h"
#include "table/table.h"

struct gs_task;
struct gs_control;

bool gs_service_launches_wanted(const struct gs_control *ctl);
/* True if counting is wanted by something that outlasts a single request. */
bool gs_service_launches_lasting(const struct gs_control *ctl);
/* True if the running policy wants launches counted, for its decisions. */
bool gs_service_launches_for_policy(const struct gs_control *ctl);
/* True if the configuration trusts the users: none would use the probes to stop fork(). */
bool gs_service_launches_trusted(const struct gs_control *ctl);
/* Why no probes may be set here now; null if they may. */
json_t *gs_service_launches_refused(const struct gs_control *ctl);
/*
 * If nothing wants launches counted any more, begins a task that ends counting and removes the
 * probes where that is allowed.
 */
void gs_service_launches_update(void *self);
int gs_service_launches_start(struct gs_control *ctl);
/*
 * The observer's functions: after events may have been lost, after a late answer of the reader,
 * after an event.
 */
void gs_service_launches_events_lost(void *self, pid_t pid);
void gs_service_launches_answered(void *self, enum gs_reader_what what, pid_t pid);
void gs_service_launches_event(void *self, const struct gpusched_event *ev);
/*
 * Call this after each check of a process. Sets the probes that are due, one task after the other.
 */
void gs_service_launches_go_on(struct gs_control *ctl);
/* The task that is ending counting: no new counting may begin before it is over. NULL: none. */
struct gs_task *gs_service_launches_ending(const struct gs_control *ctl);
/* Ends counting. Waits for the task under way for at most 5 s. */
void gs_service_launches_end(struct gs_control *ctl);

#endif /* GPUSCHED_CONTROL_LAUNCHES_H */
