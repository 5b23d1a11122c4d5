/* SPDX-License-Identifier: MIT */
/*
 * slices.h - work that grows with what users have, done a slice at a time and in turn by uid
 *
 * The loop makes a round of some milliseconds in each of its turns, in which each user has a slice
 * or more of its own. One user's tasks are done in the order in which they came, so that one of
 * them at a time takes memory.
 */
#ifndef GPUSCHED_BASIC_SLICES_H
#define GPUSCHED_BASIC_SLICES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GS_SLICES_OURS (-1) /* not a user's, but the daemon's own */

struct gs_sliced {
	/*
	 * Called when it is out of the queue; goes on until @until_ns (CLOCK_MONOTONIC), and then
	 * calls gs_slices_again() if there is more. May free it.
	 */
	void (*work)(struct gs_sliced *w, uint64_t until_ns);
	int64_t uid;
	bool queued;
	struct gs_sliced *prev, *next;
};

/* The structure that has @w as its member @member. */
#define GS_SLICED_OF(w, type, member) ((type *)((char *)(w)-offsetof(type, member)))

struct gs_slices {
	struct gs_sliced *first;
	int64_t last; /* the user that had the last turn */
};

/* Behind what is there of the same user; before it. No effect on what is queued. */
void gs_slices_add(struct gs_slices *all, struct gs_sliced *w);
void gs_slices_again(struct gs_slices *all, struct gs_sliced *w);
void gs_slices_drop(struct gs_slices *all, struct gs_sliced *w);
/* One round. True: there is more to do. */
bool gs_slices_run(struct gs_slices *all);

#endif /* GPUSCHED_BASIC_SLICES_H */
