/* SPDX-License-Identifier: MIT */
/*
 * reader.h - reads a recording: slices, instants and counters, in the order of the file
 *
 * Memory grows with the tracks. Unknown packets are skipped.
 */
#ifndef GPUSCHED_TRACE_READER_H
#define GPUSCHED_TRACE_READER_H

#include <stdio.h>

#include "basic/error.h"
#include "trace/packet.h"

struct gs_trace_item {
	const struct gs_trace_event *event; /* for a slice: the event at its beginning */
	uint64_t end_ns;                    /* for a slice */
	const struct gs_trace_track *track;
	const struct gs_trace_track *process; /* NULL: the item belongs to no process */
	bool dropped;                         /* packets before this item were lost */
};

/* Called for each item. A non-zero result ends the reading and is returned. */
typedef int (*gs_trace_item_fn)(const struct gs_trace_item *item, void *user);
/* Called for each track; @process NULL: it belongs to none. May be NULL. */
typedef void (*gs_trace_track_fn)(const struct gs_trace_track *track,
				  const struct gs_trace_track *process, void *user);

/*
 * Reads a recording. Returns 0, or -EBADMSG if @in is no recording or is cut off; before that,
 * @item was called for all items up to the cut.
 */
int gs_trace_read(FILE *in, gs_trace_item_fn item, gs_trace_track_fn track, void *user,
		  struct gs_error *err);

#endif /* GPUSCHED_TRACE_READER_H */
