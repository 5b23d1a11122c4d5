/* SPDX-License-Identifier: MIT */
/* times.h - for how long each process was parked: told to the figures, which keep it */
#ifndef GPUSCHED_PARK_TIMES_H
#define GPUSCHED_PARK_TIMES_H

struct gs_parked;
struct gs_parking;

/*
 * @p is parked: its time counts from @since_ns, or from the end of the time that an earlier daemon
 * added.
 */
void gs_park_time_begin(struct gs_parking *pk, struct gs_parked *p);
/* Adds the parked time since the last call to the figures. */
void gs_park_time_tell(struct gs_parking *pk, struct gs_parked *p);
/* The same for all processes with a second or more to add. */
void gs_park_time_tell_all(struct gs_parking *pk);
/* The same, at most once a minute. */
void gs_park_time_beat(struct gs_parking *pk);
/* @p has ended. */
void gs_park_time_ended(struct gs_parking *pk, struct gs_parked *p);

#endif /* GPUSCHED_PARK_TIMES_H */
