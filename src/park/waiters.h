/* SPDX-License-Identifier: MIT */
/*
 * waiters.h - estimates how many threads of a parked program wait, for people, where no sign tells
 *
 * See process/waiters.h. The estimate brings no program back.
 */
#ifndef GPUSCHED_PARK_WAITERS_H
#define GPUSCHED_PARK_WAITERS_H

#include <sys/types.h>

#include "process/reader.h"

#define GS_PARK_WAITERS_UNKNOWN (-1)

/* As an observer. */
void gs_park_waiters_beat(void *self);
void gs_park_waiters_answered(void *self, enum gs_reader_what what, pid_t pid);

#endif /* GPUSCHED_PARK_WAITERS_H */
