/* SPDX-License-Identifier: MIT */
/* idle.h - parks programs automatically that have not worked for a long time: ParkIdle= */
#ifndef GPUSCHED_PARK_IDLE_H
#define GPUSCHED_PARK_IDLE_H

#include <stddef.h>
#include <stdint.h>

struct gpusched_tsg;
struct gs_parking;

/* Observer callback for each heartbeat: looks for idle programs every 5 s. */
void gs_park_idle_beat(void *self);
/* Returns the records of all TSGs that have not ended, sorted by pid; malloc'd. */
int gs_park_idle_records(const struct gs_parking *pk, struct gpusched_tsg **ret, size_t *ret_n);
/* Returns when the process with these @n records last worked; 0: it works now, or unknown. */
uint64_t gs_park_idle_since(const struct gs_parking *pk, const struct gpusched_tsg *recs, size_t n);

#endif /* GPUSCHED_PARK_IDLE_H */
