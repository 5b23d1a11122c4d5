// SPDX-License-Identifier: MIT
#include "service/ends.h"

#include "basic/cleanup.h"
#include "service/instance.h"
#include "service/loop.h"
#include "table/events.h"

/*
 * A tap writes the event of an end before it removes the record. So an end whose event is still in
 * the ring is told by that.
 */
static void handle_events(struct gs_sliced *w, uint64_t until_ns)
{
	struct gs_service *s = GS_SLICED_OF(w, struct gs_service, ends.sliced);
	int n = gs_events_dispatch(s->o);

	s->ends.handled += n > 0 ? (size_t)n : 0;
	if (n > 0 && s->ends.handled < gs_events_room(s->o))
		gs_loop_slice(s, w, true);
	else
		gs_observers_end_missed(&s->observers);
}

void gs_ends_check(struct gs_service *s)
{
	CLEANUP_FREE struct gpusched_tsg *recs = NULL;
	size_t n = 0;

	s->ends.under_way = true;
	if (gs_table_all(s->o, &recs, &n))
		return;
	s->ends.under_way = gs_observers_miss(&s->observers, recs, n);
	s->ends.handled = 0;
	s->ends.sliced.work = handle_events;
	s->ends.sliced.uid = GS_SLICES_OURS;
	gs_loop_slice(s, &s->ends.sliced, false);
}

void gs_ends_swept(struct gs_service *s)
{
	if (s->ends.under_way)
		gs_ends_check(s);
}

void gs_ends_free(struct gs_service *s)
{
	gs_slices_drop(&s->slices, &s->ends.sliced);
}
