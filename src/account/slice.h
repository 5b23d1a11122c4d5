/* SPDX-License-Identifier: MIT */
/*
 * slice.h - what the length of a turn says of its slice: whether that ended it, and how much of the
 * turn was contended then
 *
 * Pure. Lengths in ns on the GPU's clock; slices in us, as set; 0: unknown. How long a turn is that a
 * slice ends comes from the calibration.
 */
#ifndef GPUSCHED_ACCOUNT_SLICE_H
#define GPUSCHED_ACCOUNT_SLICE_H

#include <stdbool.h>
#include <stdint.h>

#include "account/calibration.h"
#include "basic/clock.h"

/*
 * A turn that goes on for this and a slice had nobody waiting beside it, whatever its thread blocks
 * took to come to an end.
 */
#define ALONE_NS (5 * NS_PER_MS)

/* The settings of a TSG. */
struct gs_slice {
	uint64_t us;
	/* In CTA or WFI mode: once the slice is over, what runs first comes to its end. */
	bool finishes;
};

/* Since when somebody is known to have waited. */
enum gs_awaited { GS_AWAITED_NEVER, GS_AWAITED_LATER, GS_AWAITED_FROM_START };

/* Whether its slice ended a turn. */
enum gs_slice_says {
	GS_SLICE_DID_NOT,
	GS_SLICE_DID,
	GS_SLICE_MAY,     /* its return shows it */
	GS_SLICE_UNKNOWN, /* how long such turns are is not known */
};

/*
 * By a turn's length. @ret_slices: so many slices it had if its slice ended it, else 0. If it was
 * awaited from its START on its first slice was the last, however long its thread blocks took to come
 * to an end.
 */
enum gs_slice_says gs_slice_says(const struct gs_slice *s, const struct gs_cut *cut,
				 uint64_t length, enum gs_awaited since, uint64_t *ret_slices);

struct gs_assumed {
	uint64_t ns, off_ns; /* which may be off by this */
};
/*
 * If its slice ended it, somebody came in the last one: after half of it, for all we know. Which slice
 * was the last nobody knows of what finishes first.
 */
struct gs_assumed gs_slice_contended(const struct gs_slice *s, const struct gs_cut *cut,
				     uint64_t length, uint64_t slices);

/* From the end of its only slice to that of the turn, where the length shows it; else 0. */
uint64_t gs_slice_drain(const struct gs_cut *cut, uint64_t length);

#endif /* GPUSCHED_ACCOUNT_SLICE_H */
