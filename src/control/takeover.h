/* SPDX-License-Identifier: MIT */
/*
 * takeover.h - takes over a table that this version did not make
 *
 * The caller holds the instance's lock.
 */
#ifndef GPUSCHED_CONTROL_TAKEOVER_H
#define GPUSCHED_CONTROL_TAKEOVER_H

#include <stdbool.h>

#include "engine/restore.h"

/*
 * Turns the taps on like gs_taps_on(), but takes an older table over. If that is impossible, or
 * pins are missing, makes a new table.
 */
int gs_takeover_taps_ready(struct gs_error *err);
/*
 * Restores from an incomplete or older table. @lives: the heartbeat in it is of a daemon that
 * lives. -ENODATA: it has no records.
 */
int gs_takeover_restore(bool lives, struct gs_restored *ret, struct gs_error *err);

#endif /* GPUSCHED_CONTROL_TAKEOVER_H */
