/* SPDX-License-Identifier: MIT */
/* times.h - for how long each process was parked: told to the figures, which keep it */
#ifndef GPUSCHED_PARK_TIMES_H
#define GPUSCHED_PARK_TIMES_H

struct gs_parked;
struct gs_parking;

/* It is out: its time counts from its parking on, or from what an earlier daemon has told. */
void gs_park_time_begin(struct gs_parking *pk, struct gs_parked *p);
/* Tells the rest, if its time counts. */
void gs_park_time_tell(struct gs_parking *pk, struct gs_parked *p);
/* The same for all of them, a second or more each. */
void gs_park_time_tell_all(struct gs_parking *pk);
/* The same, once a minute for each. */
void gs_park_time_beat(struct gs_parking *pk);
/* It has ended. */
void gs_park_time_ended(struct gs_parking *pk, struct gs_parked *p);

#endif /* GPUSCHED_PARK_TIMES_H */
