/* SPDX-License-Identifier: MIT */
/*
 * slice.h - what the length of a turn says of its slice: whether that ended it, and how much of the
 * turn was contended then
 *
 * Pure. Lengths in ns on the GPU's clock; slices in us, as set; 0: unknown.
 */
#ifndef GPUSCHED_ACCOUNT_SLICE_H
#define GPUSCHED_ACCOUNT_SLICE_H

#include <stdbool.h>
#include <stdint.h>

#include "basic/clock.h"

/*
 * Seen on an H200 (docs/facts.md): a slice lasts 1.024 times what was set, and a turn that it ends
 * is k slices and 94 to 110 us long, which the context takes to be saved.
 */
#define SLICE_NS_PER_US 1024u
#define SAVE_SURE_NS 70000u /* CILP */
/* A shorter slice does not show in a turn's length: the window of saves is a tenth of it or more. */
#define SLICE_SHOWS_US 800u
/*
 * A turn that goes on for this and a slice had nobody waiting beside it, whatever its thread blocks
 * took to come to an end.
 */
#define ALONE_NS (5 * NS_PER_MS)

/* What is set of a TSG. */
struct gs_slice {
	uint64_t us;
	/* In CTA or WFI mode: once the slice is over, what runs first comes to its end. */
	bool finishes;
};

/* Since when somebody is known to have waited. */
enum gs_awaited { GS_AWAITED_NEVER, GS_AWAITED_LATER, GS_AWAITED_FROM_START };

/*
 * Slices in a turn of that length if its slice may have ended it, else 0. If it was awaited from its
 * START on its first slice was the last, however long its thread blocks took to come to an end.
 */
uint64_t gs_slices_in(const struct gs_slice *s, uint64_t length, enum gs_awaited since);

/* Whether it is certain that the last of its @slices ended the turn. */
bool gs_slice_is_sure(const struct gs_slice *s, uint64_t length, uint64_t slices,
		      enum gs_awaited since);

struct gs_assumed {
	uint64_t ns, off_ns; /* which may be off by this */
};
/*
 * If its slice ended it, somebody came in the last one: after half of it, for all we know. Which slice
 * was the last nobody knows of what finishes first.
 */
struct gs_assumed gs_slice_contended(const struct gs_slice *s, uint64_t length, uint64_t slices);

#endif /* GPUSCHED_ACCOUNT_SLICE_H */
