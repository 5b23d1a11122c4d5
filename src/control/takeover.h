/* SPDX-License-Identifier: MIT */
/*
 * takeover.h - a table that is not as this version makes it; the instance's lock is held
 */
#ifndef GPUSCHED_CONTROL_TAKEOVER_H
#define GPUSCHED_CONTROL_TAKEOVER_H

#include <stdbool.h>

#include "engine/restore.h"

/* As gs_taps_on(); takes an older table over, and starts anew where that or pins are missing. */
int gs_taps_ready(struct gs_error *err);
/*
 * The same for an incomplete or older table. @lives: its heartbeat is a daemon's. -ENODATA: no
 * records.
 */
int gs_restore_remains(bool lives, struct gs_restored *ret, struct gs_error *err);

#endif /* GPUSCHED_CONTROL_TAKEOVER_H */
