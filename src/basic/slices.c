// SPDX-License-Identifier: MIT
#include "basic/slices.h"

#include <utlist.h>

#include "basic/clock.h"

#define SLICE_NS (2 * NS_PER_MS)
#define ROUND_NS (10 * NS_PER_MS)

void gs_slices_add(struct gs_slices *all, struct gs_sliced *w)
{
	if (!w->queued)
		DL_APPEND(all->first, w);
	w->queued = true;
}

void gs_slices_again(struct gs_slices *all, struct gs_sliced *w)
{
	if (!w->queued)
		DL_PREPEND(all->first, w);
	w->queued = true;
}

void gs_slices_drop(struct gs_slices *all, struct gs_sliced *w)
{
	if (w->queued)
		DL_DELETE(all->first, w);
	w->queued = false;
}

/* The first entry of the user with the next higher uid. After the highest uid comes the lowest. */
static struct gs_sliced *next(const struct gs_slices *all)
{
	struct gs_sliced *w, *above = NULL, *lowest = NULL;

	DL_FOREACH(all->first, w) {
		if (!lowest || w->uid < lowest->uid)
			lowest = w;
		if (w->uid > all->last && (!above || w->uid < above->uid))
			above = w;
	}
	return above ? above : lowest;
}

bool gs_slices_run(struct gs_slices *all)
{
	uint64_t now = gs_now_ns(), end = now + ROUND_NS;
	struct gs_sliced *w;

	while (now < end && (w = next(all))) {
		gs_slices_drop(all, w);
		all->last = w->uid;
		w->work(w, now + SLICE_NS);
		now = gs_now_ns();
	}
	return all->first;
}
