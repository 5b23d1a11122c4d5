/* SPDX-License-Identifier: MIT */
/*
 * calibration.h - what switches cost a GPU, from the turns in its own log
 *
 * Pure. One object per runlist. It begins with what was measured of the product, if anything was, and
 * goes by that until the log contradicts it. A cluster of lengths becomes a cost only when something
 * confirms that slices made it: a service of constant length makes one that is as sharp.
 * docs/account.md has the rules.
 */
#ifndef GPUSCHED_ACCOUNT_CALIBRATION_H
#define GPUSCHED_ACCOUNT_CALIBRATION_H

#include <stdbool.h>
#include <stdint.h>

#include "rm/costs.h"

/* How long a turn is that a slice ends. All in ns. */
struct gs_cut {
	bool known;    /* the two lengths */
	bool periodic; /* @slice is, and each further one adds so much; else it is taken as nominal */
	bool shows;    /* so long that it shows in a length whether the slice ended the turn */
	uint64_t first_low, first_high; /* of a turn that its first slice ended */
	uint64_t slice;
	uint64_t save;     /* mostly; 0: unknown */
	uint64_t shortest; /* no slice ended a shorter turn, in any mode; known or not */
	uint64_t longest;  /* the slice is no longer; known or not */
};

struct gs_calibration;
int gs_calibration_new(struct gs_calibration **ret);
void gs_calibration_free(struct gs_calibration *c);

/* Begins with costs that were measured of this kind of GPU. The log's own are forgotten. */
void gs_calibration_begin(struct gs_calibration *c, const struct gs_costs *measured);
/* The log cannot be believed: what it has said is forgotten. */
void gs_calibration_doubt(struct gs_calibration *c);

/*
 * A turn of @length ns of a TSG that came back in its place of the round. It was in CILP mode with a
 * slice of @us throughout, and no suspension ended it.
 */
void gs_calibration_turn(struct gs_calibration *c, uint64_t id, uint64_t us, uint64_t length);
/* From one's END to the START of another that had waited. */
void gs_calibration_gap(struct gs_calibration *c, uint64_t ns);

const struct gs_costs *gs_calibration_costs(const struct gs_calibration *c);
/* With a slice of @us; 0: it is unknown. */
struct gs_cut gs_calibration_cut(const struct gs_calibration *c, uint64_t us);

#endif /* GPUSCHED_ACCOUNT_CALIBRATION_H */
