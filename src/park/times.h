/* SPDX-License-Identifier: MIT */
/* times.h - adds the time for which each process was parked to the figures (src/figures) */
#ifndef GPUSCHED_PARK_TIMES_H
#define GPUSCHED_PARK_TIMES_H

struct gs_parked;
struct gs_parking;

/*
 * Called when @p is parked: its parked time counts from p->since_ns. If an earlier daemon added a
 * part of it, only the rest counts.
 */
void gs_park_time_begin(struct gs_parking *pk, struct gs_parked *p);
/* Adds the parked time since the last call to the figures. */
void gs_park_time_tell(struct gs_parking *pk, struct gs_parked *p);
/* Adds the parked time of all processes with a second or more to add. */
void gs_park_time_tell_all(struct gs_parking *pk);
/* Calls gs_park_time_tell_all() about once a minute. */
void gs_park_time_beat(struct gs_parking *pk);
/* Called when @p has ended: adds its last parked time. */
void gs_park_time_ended(struct gs_parking *pk, struct gs_parked *p);

#endif /* GPUSCHED_PARK_TIMES_H */
