// SPDX-License-Identifier: MIT
#include "account/slice.h"

#define SAVE_MIN_NS 40000u /* CTA and WFI, once what runs has come to its end */
#define SAVE_NS 100000u    /* where the length does not show it; half as much off, at most */
#define SAVE_MAX_NS 150000u
/* Of so many slices a turn's length says little: it may have ended at any time. */
#define SURE_SLICES 2u

uint64_t gs_slices_in(uint64_t length, uint64_t slice_us, bool contended)
{
	uint64_t slice = slice_us * SLICE_NS_PER_US, k;

	if (!slice || length < slice + SAVE_MIN_NS)
		return 0;
	if (contended || length < slice + SAVE_SURE_NS)
		return 1;
	k = (length - SAVE_SURE_NS) / slice;
	return slice_us < SLICE_SHOWS_US || length - k * slice <= SAVE_MAX_NS ? k : 0;
}

bool gs_slice_is_sure(uint64_t length, uint64_t slice_us, uint64_t slices, bool contended)
{
	return slice_us >= SLICE_SHOWS_US && (contended || slices <= SURE_SLICES) &&
	       length - slices * slice_us * SLICE_NS_PER_US >= SAVE_SURE_NS;
}

struct gs_assumed gs_slice_contended(uint64_t length, uint64_t slice_us, uint64_t slices)
{
	uint64_t slice = slice_us * SLICE_NS_PER_US, half = slice / 2;
	bool shows = slice_us >= SLICE_SHOWS_US;
	uint64_t save = shows ? length - slices * slice : SAVE_NS;

	if (!slices)
		return (struct gs_assumed){ 0 };
	return (struct gs_assumed){
		.ns = save + half < length ? save + half : length,
		.off_ns = half + (shows ? 0 : SAVE_NS / 2),
	};
}
