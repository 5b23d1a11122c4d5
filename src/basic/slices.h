/* SPDX-License-Identifier: MIT */
/*
 * slices.h - does long work piece by piece, so that one user's work does not keep others waiting
 *
 * Each iteration of the event loop works for some milliseconds, in pieces, and goes from one uid to
 * the next higher one. The next iteration goes on where this one ended. A user's tasks are done in
 * the order in which they came, so that only one of them takes memory at a time.
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
	int64_t last; /* user whose work was done last */
};

/*
 * gs_slices_add() queues @w behind the user's other work, gs_slices_again() before it. No effect if
 * @w is queued already.
 */
void gs_slices_add(struct gs_slices *all, struct gs_sliced *w);
void gs_slices_again(struct gs_slices *all, struct gs_sliced *w);
void gs_slices_drop(struct gs_slices *all, struct gs_sliced *w);
/* Works for some milliseconds. Returns true if there is more to do. */
bool gs_slices_run(struct gs_slices *all);

#endif /* GPUSCHED_BASIC_SLICES_H */
