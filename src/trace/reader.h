/* SPDX-License-Identifier: MIT */
/*
 * reader.h - reads a recording: slices, instants and counters, in the order of the file
 *
 * Needs memory per track, not per event. Skips unknown packets.
 */
#ifndef GPUSCHED_TRACE_READER_H
#define GPUSCHED_TRACE_READER_H

#include <stdio.h>

#include "basic/error.h"
#include "trace/packet.h"

struct gs_trace_item {
	const struct gs_trace_event *event; /* for a slice: its start event */
	uint64_t end_ns;                    /* end of a slice */
	const struct gs_trace_track *track;
	const struct gs_trace_track *process; /* NULL: the item belongs to no process */
	bool dropped;                         /* packets before this item were lost */
};

/* Called for each item. A non-zero result stops the reading, and gs_trace_read() returns it. */
typedef int (*gs_trace_item_fn)(const struct gs_trace_item *item, void *user);
/* Called for each track; may be NULL. @process NULL: the track belongs to no process. */
typedef void (*gs_trace_track_fn)(const struct gs_trace_track *track,
				  const struct gs_trace_track *process, void *user);

/*
 * Reads a recording. Returns 0; -EBADMSG: @in is no recording or is cut off. @item has then been
 * called for all items before the cut.
 */
int gs_trace_read(FILE *in, gs_trace_item_fn item, gs_trace_track_fn track, void *user,
		  struct gs_error *err);

#endif /* GPUSCHED_TRACE_READER_H */
