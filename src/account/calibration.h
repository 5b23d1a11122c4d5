/* SPDX-License-Identifier: MIT */
/*
 * calibration.h - what switches cost a GPU, from the turns in its own log
 *
 * Pure. One object per runlist. It begins with costs known from elsewhere, if there are any, and
 * uses them until the log contradicts them. A cluster of lengths becomes a cost only when
 * something confirms that slices made it: a service of constant length makes a cluster that is as
 * sharp. docs/account.md has the rules.
 */
#ifndef GPUSCHED_ACCOUNT_CALIBRATION_H
#define GPUSCHED_ACCOUNT_CALIBRATION_H

#include <stdbool.h>
#include <stdint.h>

#include "rm/costs.h"

/* The length of a turn that its slice ends. All in ns. */
struct gs_cut {
	bool known; /* the next two lengths are known */
	/*
	 * @slice is measured, and each further slice makes the turn longer by it; otherwise @slice
	 * is nominal.
	 */
	bool periodic;
	/* The slice is long enough to recognize by a turn's length whether the slice ended it. */
	bool shows;
	uint64_t first_low, first_high; /* bounds for a turn that its first slice ended */
	uint64_t slice;
	uint64_t save;     /* the usual save; 0: unknown */
	uint64_t shortest; /* no slice ended a shorter turn, in any mode; set even if unknown */
	uint64_t longest;  /* the slice is at most this long; set even if unknown */
};

struct gs_calibration;
int gs_calibration_new(struct gs_calibration **ret);
void gs_calibration_free(struct gs_calibration *c);

/* Begins with costs known from elsewhere, and forgets those from the log. */
void gs_calibration_begin(struct gs_calibration *c, const struct gs_costs *measured);
/* The log cannot be trusted: forgets everything learned from it. */
void gs_calibration_doubt(struct gs_calibration *c);

/*
 * A turn of @length ns of a TSG that came back in its place of the round. All the time it was in
 * CILP mode with a slice of @us, and no suspension ended it.
 */
void gs_calibration_turn(struct gs_calibration *c, uint64_t id, uint64_t us, uint64_t length);
/* The time from one TSG's END to the START of another one that had waited. */
void gs_calibration_gap(struct gs_calibration *c, uint64_t ns);

const struct gs_costs *gs_calibration_costs(const struct gs_calibration *c);
/* Why the save and the unit are not known; NULL: they are. */
const char *gs_calibration_save_unknown(const struct gs_calibration *c);
/* How often the log contradicted costs known from elsewhere, which were dropped then. */
unsigned int gs_calibration_contradicted(const struct gs_calibration *c);
/* For a slice of @us; 0: unknown. */
struct gs_cut gs_calibration_cut(const struct gs_calibration *c, uint64_t us);

#endif /* GPUSCHED_ACCOUNT_CALIBRATION_H */
