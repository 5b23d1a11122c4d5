/* SPDX-License-Identifier: MIT */
/*
 * slices.h - does work that grows with what users have: in slices, and users take turns by uid
 *
 * In each iteration the loop makes a round of some milliseconds, in which each user gets at least
 * one slice. A user's tasks are done in the order in which they came, so that only one of them
 * takes memory at a time.
 */
#ifndef GPUSCHED_BASIC_SLICES_H
#define GPUSCHED_BASIC_SLICES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GS_SLICES_OURS (-1) /* the daemon's own work, not a user's */

struct gs_sliced {
	/*
	 * Called when @w is taken out of the queue. Goes on until @until_ns (CLOCK_MONOTONIC), and
	 * then calls gs_slices_again() if there is more. May free @w.
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
	int64_t last; /* user that had the last turn */
};

/*
 * Both functions queue @w: add, after the user's other work; again, before it. No effect if @w is
 * queued.
 */
void gs_slices_add(struct gs_slices *all, struct gs_sliced *w);
void gs_slices_again(struct gs_slices *all, struct gs_sliced *w);
void gs_slices_drop(struct gs_slices *all, struct gs_sliced *w);
/* Runs one round. Returns true if there is more to do. */
bool gs_slices_run(struct gs_slices *all);

#endif /* GPUSCHED_BASIC_SLICES_H */
