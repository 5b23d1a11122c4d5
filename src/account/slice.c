// SPDX-License-Identifier: MIT
#include "account/slice.h"

#define SAVE_MIN_NS 40000u /* CTA and WFI, once what runs has come to its end */
#define SAVE_NS 100000u    /* where the length does not show it; half as much off, at most */
#define SAVE_MAX_NS 150000u
/* Of so many slices a turn's length says little: it may have ended at any time. */
#define SURE_SLICES 2u

static bool shows(const struct gs_slice *s)
{
	return s->us >= SLICE_SHOWS_US;
}

uint64_t gs_slices_in(const struct gs_slice *s, uint64_t length, enum gs_awaited since)
{
	uint64_t slice = s->us * SLICE_NS_PER_US, k;

	if (!slice || length < slice + SAVE_MIN_NS)
		return 0;
	if (since == GS_AWAITED_FROM_START || length < slice + SAVE_SURE_NS)
		return 1;
	k = (length - SAVE_SURE_NS) / slice;
	return !shows(s) || s->finishes || length - k * slice <= SAVE_MAX_NS ? k : 0;
}

bool gs_slice_is_sure(const struct gs_slice *s, uint64_t length, uint64_t slices,
		      enum gs_awaited since)
{
	uint64_t save = length - slices * s->us * SLICE_NS_PER_US;

	if (!shows(s) || save < SAVE_SURE_NS)
		return false;
	if (since == GS_AWAITED_FROM_START)
		return true;
	return save <= SAVE_MAX_NS && (since == GS_AWAITED_LATER || slices <= SURE_SLICES);
}

struct gs_assumed gs_slice_contended(const struct gs_slice *s, uint64_t length, uint64_t slices)
{
	uint64_t slice = s->us * SLICE_NS_PER_US, half = slice / 2;
	uint64_t save = shows(s) ? length - slices * slice : SAVE_NS;
	uint64_t most = slice + ALONE_NS < length ? slice + ALONE_NS : length;
	struct gs_assumed a = {
		.ns = save + half < length ? save + half : length,
		.off_ns = half + (shows(s) ? 0 : SAVE_NS / 2),
	};

	if (!slices)
		return (struct gs_assumed){ 0 };
	if (s->finishes && a.ns + a.off_ns < most)
		a.off_ns = most - a.ns;
	return a;
}
