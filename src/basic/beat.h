/* SPDX-License-Identifier: MIT */
/*
 * beat.h - shows everybody when the daemon's loop last turned: a page in the run directory
 *
 * The heartbeat in the table is for root's programs. This page tells a user's command a daemon that
 * is slow from one that is stuck.
 */
#ifndef GPUSCHED_BASIC_BEAT_H
#define GPUSCHED_BASIC_BEAT_H

#include <stdint.h>

/* Makes the page. NULL: it cannot be made; then a slow daemon counts as one that does not answer. */
_Atomic uint64_t *gs_beat_new(void);
void gs_beat_free(_Atomic uint64_t *page);
/* Returns the age of the last turn in ns; UINT64_MAX: unknown. */
uint64_t gs_beat_age_ns(void);

#endif /* GPUSCHED_BASIC_BEAT_H */
