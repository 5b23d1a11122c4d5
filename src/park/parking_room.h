/* SPDX-License-Identifier: MIT */
/* parking_room.h - finds out how much of the host's memory a process may take when it is parked */
#ifndef GPUSCHED_PARK_PARKING_ROOM_H
#define GPUSCHED_PARK_PARKING_ROOM_H

#include "park/check.h"

struct gs_parked;
struct gs_parking;

/* Returns what a check of @p's memory needs, but for its size. Fields for other checks are unset. */
struct gs_park_check gs_parking_room(const struct gs_parking *pk, const struct gs_parked *p);

#endif /* GPUSCHED_PARK_PARKING_ROOM_H */
