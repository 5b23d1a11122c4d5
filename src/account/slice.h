/* SPDX-License-Identifier: MIT */
/*
 * slice.h - finds by a turn's length whether its slice ended it, and how much of the turn was
 * contended
 *
 * Pure. Lengths in ns on the GPU's clock; slices in us, as set; 0: unknown. The calibration says
 * how long a turn is that its slice ended.
 */
#ifndef GPUSCHED_ACCOUNT_SLICE_H
#define GPUSCHED_ACCOUNT_SLICE_H

#include <stdbool.h>
#include <stdint.h>

#include "account/calibration.h"
#include "basic/clock.h"

/*
 * If a turn runs this long past its slice, no other TSG was waiting, however long its thread blocks
 * took to end.
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
	GS_SLICE_MAY,     /* this depends on whether the TSG comes back in its place */
	GS_SLICE_UNKNOWN, /* the length of such turns is unknown */
};

/*
 * Judges by a turn's length. @ret_slices: the number of slices it had if its slice ended it, else
 * 0. If another TSG waited from the turn's START on, the first slice was the last, however long the
 * thread blocks took to end.
 */
enum gs_slice_says gs_slice_says(const struct gs_slice *s, const struct gs_cut *cut,
				 uint64_t length, enum gs_awaited since, uint64_t *ret_slices);

struct gs_assumed {
	uint64_t ns, off_ns; /* contended time, and its possible error */
};
/*
 * If its slice ended the turn, another TSG came within the last slice: after half of it on average.
 * Where running work comes to its end first, it is unknown which slice was the last.
 */
struct gs_assumed gs_slice_contended(const struct gs_slice *s, const struct gs_cut *cut,
				     uint64_t length, uint64_t slices);

/*
 * The time from the end of the turn's only slice to the end of the turn, if the length shows it;
 * else 0. If the slice's length is nominal, the result is too long by as much as the real slice was
 * longer.
 */
uint64_t gs_slice_drain(const struct gs_cut *cut, uint64_t length);

#endif /* GPUSCHED_ACCOUNT_SLICE_H */
