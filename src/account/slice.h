/* SPDX-License-Identifier: MIT */
/*
 * slice.h - from the length of a turn: did the TSG's slice end the turn, and how much of it was
 * contended?
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
 * Assumption: running thread blocks end sooner than this after a slice. So a turn that is longer
 * went on since no other TSG waited at the end of its slice.
 */
#define ALONE_NS (5 * NS_PER_MS)

/* The settings of a TSG. */
struct gs_slice {
	uint64_t us;
	/* In CTA or WFI mode: when the slice is over, running blocks first come to their end. */
	bool finishes;
};

/* Since when another TSG is known to have waited. */
enum gs_awaited { GS_AWAITED_NEVER, GS_AWAITED_LATER, GS_AWAITED_FROM_START };

/* Whether the slice ended a turn. */
enum gs_slice_says {
	GS_SLICE_DID_NOT,
	GS_SLICE_DID,
	/* It did if the TSG's next turn comes in its place of the round, which is known later. */
	GS_SLICE_MAY,
	GS_SLICE_UNKNOWN, /* the calibration does not know how long turns are that a slice ends */
};

/*
 * Did the slice end a turn of this length? *ret_slices: after how many slices (GS_SLICE_DID and
 * MAY), else 0. It is 1 if another TSG waited from the turn's START on, even if thread blocks ran
 * on for long.
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
