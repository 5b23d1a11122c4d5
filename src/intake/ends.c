// SPDX-License-Identifier: MIT
#include "intake/ends.h"

#include "basic/cleanup.h"
#include "intake/intake.h"
#include "hub/loop.h"
#include "table/events.h"

/*
 * A tap writes the event of an end before it removes the record. So if the event is still in the
 * ring, that event reports the end.
 */
static void handle_events(struct gs_sliced *w, uint64_t until_ns)
{
	struct gs_intake *in = GS_SLICED_OF(w, struct gs_intake, ends.sliced);
	int n = gs_events_dispatch(in->hub->table);

	in->ends.handled += n > 0 ? (size_t)n : 0;
	if (n > 0 && in->ends.handled < gs_events_room(in->hub->table))
		gs_loop_slice(in->hub, w, true);
	else
		gs_observers_end_missed(&in->hub->observers);
}

void gs_ends_check(void *self)
{
	struct gs_intake *in = self;
	CLEANUP_FREE struct gpusched_tsg *recs = NULL;
	size_t n = 0;

	in->ends.under_way = true;
	if (gs_table_all(in->hub->table, &recs, &n))
		return;
	in->ends.under_way = gs_observers_miss(&in->hub->observers, recs, n);
	in->ends.handled = 0;
	in->ends.sliced.work = handle_events;
	in->ends.sliced.uid = GS_SLICES_OURS;
	gs_loop_slice(in->hub, &in->ends.sliced, false);
}

void gs_ends_swept(struct gs_intake *in)
{
	if (in->ends.under_way)
		gs_ends_check(in);
}

void gs_ends_free(struct gs_intake *in)
{
	gs_slices_drop(&in->hub->slices, &in->ends.sliced);
}
