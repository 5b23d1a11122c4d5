/* SPDX-License-Identifier: MIT */
/*
 * sign.h - how the daemon learns that a parked program wants to work again: UnparkOnUse=
 *
 * There are two signs. If the program has an agent, the agent counts its calls of libcuda.
 * Otherwise probes in the program's libcuda note its last call, if they may be set. Both act before
 * libcuda, in which the call then waits.
 */
#ifndef GPUSCHED_PARK_SIGN_H
#define GPUSCHED_PARK_SIGN_H

#include <stdbool.h>
#include <stdint.h>

#include "process/reader.h"

struct gs_parked;
struct gs_parking;

/* Probes in a program that is parked or on its way there. */
enum gs_park_probe {
	GS_PARK_PROBE_NONE,
	GS_PARK_PROBE_AWAITED, /* to be set: the lock waits for them, for a bounded time */
	GS_PARK_PROBE_SET,
	GS_PARK_PROBE_LEFT, /* they could not be set, or may not be: @no_probe says why */
};

/*
 * May a sign bring @p back? Its class is in UnparkOnUse=, and neither root nor another program's
 * need of memory forbids it.
 */
bool gs_park_may_come_back(const struct gs_parking *pk, const struct gs_parked *p);
/* "agent", "probe"; NULL: nothing would show a sign. */
const char *gs_park_sign_of(const struct gs_parked *p);

/* Called before @p is locked: sets probes if they are needed. */
void gs_park_sign_begin(struct gs_parking *pk, struct gs_parked *p);
/* As observers: they set probes, remove old ones, and read the notes. */
void gs_park_sign_beat(void *self);
void gs_park_sign_answered(void *self, enum gs_reader_what what, pid_t pid);
/* The instance ends: probes in programs that stay parked remain. */
void gs_park_sign_end(struct gs_parking *pk);

#endif /* GPUSCHED_PARK_SIGN_H */
