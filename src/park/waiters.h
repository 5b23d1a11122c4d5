/* SPDX-License-Identifier: MIT */
/*
 * waiters.h - estimates how many threads of a parked program wait for libcuda
 *
 * The output shows the estimate for programs that no sign (sign.h) brings back, so that a person
 * can decide. process/waiters.h says how the threads are counted.
 */
#ifndef GPUSCHED_PARK_WAITERS_H
#define GPUSCHED_PARK_WAITERS_H

#include <sys/types.h>

#include "process/reader.h"

#define GS_PARK_WAITERS_UNKNOWN (-1)

/* Observer callbacks: at each heartbeat, and when the reader has counted a process's threads. */
void gs_park_waiters_beat(void *self);
void gs_park_waiters_answered(void *self, enum gs_reader_what what, pid_t pid);

#endif /* GPUSCHED_PARK_WAITERS_H */
