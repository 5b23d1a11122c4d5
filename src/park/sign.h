/* SPDX-License-Identifier: MIT */
/*
 * sign.h - detects that a parked program wants to work again: UnparkOnUse=
 *
 * There are two signs. If the program has an agent, the agent counts its calls of libcuda.
 * Otherwise uprobes in the program's libcuda record the time of its last call, if they may be set.
 * Agent and probes see the call before libcuda, where the call then waits.
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
	GS_PARK_PROBE_AWAITED, /* being set; meanwhile the lock waits, for a bounded time */
	GS_PARK_PROBE_SET,
	GS_PARK_PROBE_LEFT, /* not set: gs_parked.no_probe says why they cannot or may not be */
};

/*
 * Returns true if a sign may bring @p back. Its class must be in UnparkOnUse=. It must not have
 * been parked by another user (such as root), or to make room for another program.
 */
bool gs_park_sign_may_return(const struct gs_parking *pk, const struct gs_parked *p);
/* Returns what would show a sign: "agent" or "probe"; NULL: nothing would. */
const char *gs_park_sign_of(const struct gs_parked *p);

/* Called before @p is locked: sets probes if they are needed. */
void gs_park_sign_begin(struct gs_parking *pk, struct gs_parked *p);
/* Observer callback for each heartbeat: sets probes, removes old ones, and reads their records. */
void gs_park_sign_beat(void *self);
/* Observer callback: the reader has found a process's mapped libcuda, so probes can be set. */
void gs_park_sign_answered(void *self, enum gs_reader_what what, pid_t pid);
/* True if probes may be set for a program of @uid in this minute: users share the settings out. */
bool gs_park_sign_has_budget(struct gs_parking *pk, uint32_t uid);
/* Called when the daemon ends: programs that stay parked keep their probes. */
void gs_park_sign_end(struct gs_parking *pk);

#endif /* GPUSCHED_PARK_SIGN_H */
