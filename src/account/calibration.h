/* SPDX-License-Identifier: MIT */
/*
 * calibration.h - learns what switches cost on a GPU from the turns in its log
 *
 * Pure. One object per runlist. It starts with costs known from elsewhere, if any, and uses them
 * until the log contradicts them. A cluster of similar turn lengths counts only with evidence that
 * a slice cut those turns off: a service with requests that are all alike makes an equally sharp
 * cluster. docs/account.md has the rules.
 */
#ifndef GPUSCHED_ACCOUNT_CALIBRATION_H
#define GPUSCHED_ACCOUNT_CALIBRATION_H

#include <stdbool.h>
#include <stdint.h>

#include "rm/costs.h"

/* The length of a turn that ends because its slice is over. All in ns. */
struct gs_cut {
	bool known; /* @first_low and @first_high are set */
	/*
	 * True: @slice was measured, and each further slice makes the turn longer by it. False:
	 * @slice is the nominal length.
	 */
	bool periodic;
	/* The slice is long enough to recognize by a turn's length whether the slice ended it. */
	bool shows;
	/* bounds for the length of a turn that its first slice ended */
	uint64_t first_low, first_high;
	uint64_t slice;
	uint64_t save; /* the usual time to save the context; 0: unknown */
	/* the slice did not end a shorter turn, in any mode; set even if not @known */
	uint64_t shortest;
	uint64_t longest; /* the slice is at most this long; set even if not @known */
};

struct gs_calibration;
int gs_calibration_new(struct gs_calibration **ret);
void gs_calibration_free(struct gs_calibration *c);

/* Begins with costs known from elsewhere, and forgets those from the log. */
void gs_calibration_begin(struct gs_calibration *c, const struct gs_costs *measured);
/* The log cannot be trusted: forgets everything learned from it. */
void gs_calibration_doubt(struct gs_calibration *c);

/*
 * Takes a sample: a turn of @length ns, after which the TSG came back in its place of the round.
 * The TSG was in CILP mode with a slice of @us throughout, and no suspension ended the turn.
 */
void gs_calibration_turn(struct gs_calibration *c, uint64_t id, uint64_t us, uint64_t length);
/* Takes a sample: the time from one TSG's END to the START of the next TSG, which was waiting. */
void gs_calibration_gap(struct gs_calibration *c, uint64_t ns);

const struct gs_costs *gs_calibration_costs(const struct gs_calibration *c);
/* Says why the save and the real length of a slice are unknown; NULL: they are known. */
const char *gs_calibration_save_unknown(const struct gs_calibration *c);
/* How often the log contradicted costs known from elsewhere, which were dropped then. */
unsigned int gs_calibration_contradicted(const struct gs_calibration *c);
/* Returns how long turns are that a slice of @us ends. @us 0: the slice is unknown. */
struct gs_cut gs_calibration_cut(const struct gs_calibration *c, uint64_t us);

#endif /* GPUSCHED_ACCOUNT_CALIBRATION_H */
