/* SPDX-License-Identifier: MIT */
/*
 * sign.h - how the daemon learns that a parked program wants to work again: UnparkOnUse=
 *
 * There are two signs. The program's own agent counts its calls. Without an agent, probes in its
 * libcuda note the last one, where they may be set. Either comes before libcuda, which waits.
 */
#ifndef GPUSCHED_PARK_SIGN_H
#define GPUSCHED_PARK_SIGN_H

#include <stdbool.h>
#include <stdint.h>

#include "process/reader.h"

struct gs_parked;
struct gs_parking;

/* Probes of a program that is parked, or on its way there. */
enum gs_park_probe {
	GS_PARK_PROBE_NONE,
	GS_PARK_PROBE_AWAITED, /* its lock waits for them, for a bounded time */
	GS_PARK_PROBE_SET,
	GS_PARK_PROBE_LEFT, /* they may not be set, or cannot: @no_probe says why */
};

/* A sign may bring it back: its class is named, and neither root nor another program is against it. */
bool gs_park_may_come_back(const struct gs_parking *pk, const struct gs_parked *p);
/* "agent", "probe"; NULL: nothing would tell. */
const char *gs_park_sign_of(const struct gs_parked *p);

/* Before it is locked: sets probes if they are needed. */
void gs_park_sign_begin(struct gs_parking *pk, struct gs_parked *p);
/* As observers: set probes, remove old ones, and read their notes. */
void gs_park_sign_beat(void *self);
void gs_park_sign_answered(void *self, enum gs_reader_what what, pid_t pid);
/* The instance ends: the probes of those that stay parked stay. */
void gs_park_sign_end(struct gs_parking *pk);

#endif /* GPUSCHED_PARK_SIGN_H */
