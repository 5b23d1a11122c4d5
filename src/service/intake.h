/* SPDX-License-Identifier: MIT */
/*
 * intake.h - what the taps see, and what follows for a record or for the next look at the table
 */
#ifndef GPUSCHED_SERVICE_INTAKE_H
#define GPUSCHED_SERVICE_INTAKE_H

#include "service/observers.h"

struct gs_error;

/* Events from before this instance are thrown away: the table has what they told. */
int gs_intake_start(struct gs_service *s, struct gs_error *err);
/* As an observer. */
void gs_intake_tapped(struct gs_service *s, const struct gpusched_event *ev);
void gs_intake_answered(struct gs_service *s, enum gs_reader_what what, pid_t pid);
void gs_intake_ended(struct gs_service *s, const struct gs_end *end);

#endif /* GPUSCHED_SERVICE_INTAKE_H */
