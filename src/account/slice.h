/* SPDX-License-Identifier: MIT */
/*
 * slice.h - infers from a turn's length whether its slice ended it, and its contended time
 *
 * Pure. Lengths in ns on the GPU's clock; slices in us, as set; 0: unknown. calibration.h learns
 * the length of turns that a slice ends (struct gs_cut).
 */
#ifndef GPUSCHED_ACCOUNT_SLICE_H
#define GPUSCHED_ACCOUNT_SLICE_H

#include <stdbool.h>
#include <stdint.h>

#include "account/calibration.h"
#include "basic/clock.h"

/*
 * Assumption: running thread blocks end within this time after a slice. So if a turn goes on
 * longer, no other TSG was waiting when the slice ended.
 */
#define ALONE_NS (5 * NS_PER_MS)

/* The settings of a TSG. */
struct gs_slice {
	uint64_t us;
	/* In CTA or WFI mode: running blocks or kernels finish before the TSG leaves the GPU. */
	bool finishes;
};

/* Since when in the turn another TSG is known to have waited. */
enum gs_awaited { GS_AWAITED_NEVER, GS_AWAITED_LATER, GS_AWAITED_FROM_START };

/* Whether the slice ended a turn. */
enum gs_slice_says {
	GS_SLICE_DID_NOT,
	GS_SLICE_DID,
	/*
	 * To be decided later: the slice did if the TSG's next turn comes in its place of the
	 * round.
	 */
	GS_SLICE_MAY,
	GS_SLICE_UNKNOWN, /* how long turns are that a slice ends is not calibrated yet */
};

/*
 * Says whether the slice ended a turn of @length. *ret_slices: the number of slices in the turn
 * (GS_SLICE_DID and MAY), else 0. The number is 1 if another TSG waited from the turn's START on,
 * however long thread blocks went on.
 */
enum gs_slice_says gs_slice_says(const struct gs_slice *s, const struct gs_cut *cut,
				 uint64_t length, enum gs_awaited since, uint64_t *ret_slices);

struct gs_assumed {
	uint64_t ns, off_ns; /* contended time, and its possible error */
};
/*
 * Returns the contended time of a turn that ended after @slices slices. The other TSG came within
 * the last slice, on average after half of it. In CTA and WFI mode it is unknown which slice was
 * the last, so the possible error is larger.
 */
struct gs_assumed gs_slice_contended(const struct gs_slice *s, const struct gs_cut *cut,
				     uint64_t length, uint64_t slices);

/*
 * The time from the end of the turn's only slice to the end of the turn, if the length shows it;
 * else 0. If @cut's slice is nominal, the result is too long by the difference between the real
 * slice and the nominal one.
 */
uint64_t gs_slice_drain(const struct gs_cut *cut, uint64_t length);

#endif /* GPUSCHED_ACCOUNT_SLICE_H */
