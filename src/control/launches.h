/* SPDX-License-Identifier: MIT */
/*
 * launches.h - counted while a policy, a person or the configuration wants it
 */
#ifndef GPUSCHED_CONTROL_LAUNCHES_H
#define GPUSCHED_CONTROL_LAUNCHES_H

#include <jansson.h>

#include "process/reader.h"
#include "table/table.h"

struct gs_errand;
struct gs_control;

bool gs_service_launches_wanted(const struct gs_control *ctl);
/* ... by the policy that runs, for what it decides. */
bool gs_service_launches_for_policy(const struct gs_control *ctl);
/* The configuration says that no user would stop fork() by the probes. */
bool gs_service_launches_trusted(const struct gs_control *ctl);
/* Why no probe may be set here now; null: they may. */
json_t *gs_service_launches_refused(const struct gs_control *ctl);
/* When nobody wants it any more counting ends, by an errand, and probes go where they may. */
void gs_service_launches_update(void *self);
int gs_service_launches_start(struct gs_control *ctl);
/* As an observer: after events, late answers, and where events may have been lost. */
void gs_service_launches_met(void *self, pid_t pid);
void gs_service_launches_answered(void *self, enum gs_reader_what what, pid_t pid);
void gs_service_launches_event(void *self, const struct gpusched_event *ev);
/* After each look at a process: what is to be probed is, by one errand after the other. */
void gs_service_launches_go_on(struct gs_control *ctl);
/* That by which counting ends just now: none begins before it is over. NULL: it does not end. */
struct gs_errand *gs_service_launches_ending(const struct gs_control *ctl);
/* Counting ends. It waits for the errand that is under way, but not for ever. */
void gs_service_launches_end(struct gs_control *ctl);

#endif /* GPUSCHED_CONTROL_LAUNCHES_H */
