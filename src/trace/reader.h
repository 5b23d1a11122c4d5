/* SPDX-License-Identifier: MIT */
/*
 * reader.h - what a recording says: slices, instants and counters, in the order of the file
 *
 * Memory grows with the tracks. Packets that are not ours are passed over.
 */
#ifndef GPUSCHED_TRACE_READER_H
#define GPUSCHED_TRACE_READER_H

#include <stdio.h>

#include "basic/error.h"
#include "trace/packet.h"

struct gs_trace_item {
	const struct gs_trace_event *event; /* of a slice: its beginning */
	uint64_t end_ns;                    /* of a slice */
	const struct gs_trace_track *track;
	const struct gs_trace_track *process; /* NULL: of none */
	bool dropped;                         /* something before it was lost */
};

/* Non-zero ends the reading with that. */
typedef int (*gs_trace_item_fn)(const struct gs_trace_item *item, void *user);
/* A track is there, of a process (NULL: of none). May be NULL. */
typedef void (*gs_trace_track_fn)(const struct gs_trace_track *track,
				  const struct gs_trace_track *process, void *user);

/* 0; -EBADMSG: no recording, or cut off: what came before it was told. */
int gs_trace_read(FILE *in, gs_trace_item_fn item, gs_trace_track_fn track, void *user,
		  struct gs_error *err);

#endif /* GPUSCHED_TRACE_READER_H */
