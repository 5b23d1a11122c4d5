/* SPDX-License-Identifier: MIT */
/* idle.h - parks programs that have not worked for long automatically: ParkIdle= */
#ifndef GPUSCHED_PARK_IDLE_H
#define GPUSCHED_PARK_IDLE_H

#include <stddef.h>
#include <stdint.h>

struct gpusched_tsg;
struct gs_parking;

/* As an observer. */
void gs_park_idle_beat(void *self);
/* All TSGs that have not ended, sorted by pid, with the GPU's index; malloc'd. */
int gs_park_records(const struct gs_parking *pk, struct gpusched_tsg **ret, size_t *ret_n);
/* When a process with these @n records worked last; 0: it works, or this is not known. */
uint64_t gs_park_idle_since(const struct gs_parking *pk, const struct gpusched_tsg *recs, size_t n);

#endif /* GPUSCHED_PARK_IDLE_H */
