// SPDX-License-Identifier: MIT
#include "account/slice.h"

/*
 * If a turn took more slices than this, its length says little: it may have ended by itself at any
 * time.
 */
#define SURE_SLICES 2u

/*
 * Returns after how many slices the GPU may have been told to switch. It is 1 if another TSG waited
 * from the turn's START on, or if the length is that of one slice.
 */
static uint64_t slices_in(const struct gs_slice *s, const struct gs_cut *cut, uint64_t length,
			  enum gs_awaited since)
{
	/* in CTA and WFI mode less is saved, so a turn is shorter */
	uint64_t low = s->finishes && cut->periodic ? cut->shortest : cut->first_low;
	uint64_t slice = cut->slice ? cut->slice : 1;

	if (since == GS_AWAITED_FROM_START || length < cut->first_low)
		return 1;
	if (!cut->known)
		return length < slice ? 1 : length / slice;
	return (length - (low - slice)) / slice;
}

/* Judges a turn if only the length of turns of one slice is known. */
static enum gs_slice_says says_first(const struct gs_slice *s, const struct gs_cut *cut,
				     uint64_t length, enum gs_awaited since, uint64_t *ret_slices)
{
	if (s->finishes) { /* the TSG may leave sooner or later than in CILP mode */
		*ret_slices = slices_in(s, cut, length, since);
		return since == GS_AWAITED_FROM_START ? GS_SLICE_DID : GS_SLICE_MAY;
	}
	if (length < cut->first_low)
		return GS_SLICE_DID_NOT;
	if (length > cut->first_high && since != GS_AWAITED_FROM_START)
		return GS_SLICE_UNKNOWN;
	*ret_slices = 1;
	return GS_SLICE_DID;
}

enum gs_slice_says gs_slice_says(const struct gs_slice *s, const struct gs_cut *cut,
				 uint64_t length, enum gs_awaited since, uint64_t *ret_slices)
{
	uint64_t past;

	*ret_slices = 0;
	if (!s->us)
		return GS_SLICE_UNKNOWN;
	if (length < cut->shortest)
		return GS_SLICE_DID_NOT;
	if (cut->shows && !cut->known)
		return GS_SLICE_UNKNOWN;
	if (cut->shows && !cut->periodic)
		return says_first(s, cut, length, since, ret_slices);
	*ret_slices = slices_in(s, cut, length, since);
	/*
	 * a turn ended by its slice may be slightly shorter in another mode, or with little to save
	 */
	if (!cut->shows || length < cut->first_low)
		return GS_SLICE_MAY;
	past = length - (*ret_slices - 1) * cut->slice;
	if (since == GS_AWAITED_FROM_START)
		return GS_SLICE_DID;
	if (past <= cut->first_high)
		return since == GS_AWAITED_LATER || *ret_slices <= SURE_SLICES ? GS_SLICE_DID
									       : GS_SLICE_MAY;
	if (s->finishes)
		return GS_SLICE_MAY;
	*ret_slices = 0;
	return GS_SLICE_DID_NOT;
}

struct gs_assumed gs_slice_contended(const struct gs_slice *s, const struct gs_cut *cut,
				     uint64_t length, uint64_t slices)
{
	uint64_t slice = cut->slice, half = slice / 2, past = slices * slice;
	uint64_t most = slice + ALONE_NS < length ? slice + ALONE_NS : length;
	struct gs_assumed a = { 0 };

	if (!slices)
		return a;
	if (cut->shows && past <= length)
		a = (struct gs_assumed){ length - past + half, half };
	else if (cut->save)
		a = (struct gs_assumed){ cut->save + half, half + cut->save / 2 };
	else /* a turn of a short slice is mostly the save, which takes an unknown time */
		a = (struct gs_assumed){ (length + half) / 2, (length + half) / 2 };
	if (a.ns > length)
		a.ns = length;
	if (s->finishes && a.ns + a.off_ns < most)
		a.off_ns = most - a.ns;
	return a;
}

uint64_t gs_slice_drain(const struct gs_cut *cut, uint64_t length)
{
	if (!(cut->periodic || (cut->known && cut->shows)) || length < cut->slice)
		return 0;
	return cut->shows || length >= cut->first_low ? length - cut->slice : 0;
}
