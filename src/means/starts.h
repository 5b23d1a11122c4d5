/* SPDX-License-Identifier: MIT */
/*
 * starts.h - remembers the programs that were told their means and have no work on a GPU yet
 *
 * A service and a best-effort program often start at the same time. Each has to know where the
 * other will run, or one goes into the shared server and the other stays outside.
 */
#ifndef GPUSCHED_MEANS_STARTS_H
#define GPUSCHED_MEANS_STARTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "hub/processes.h"
#include "means/choice.h"

#define GS_STARTS 64u
#define GS_STARTS_S 60 /* a start counts for so long, and while its process lives */

/* The start of a process: gs_process.of[GS_PROCESS_START]. */
struct gs_start {
	struct gs_start *prev, *next;
	struct gs_process *process;
	uint64_t ns; /* CLOCK_MONOTONIC, of the choice */
	uid_t uid;
	enum gs_role role;
	bool share; /* it was told to run in its user's shared server */
};

/* The last starts, GS_STARTS at most, shared out among users; the oldest comes first. */
struct gs_starts {
	struct gs_start *all;
};

/* A process has one start, its last. Takes the values of @start. */
void gs_starts_add(struct gs_starts *s, struct gs_process *p, const struct gs_start *start);
/* True if such a start of that user counts. */
bool gs_starts_has(const struct gs_starts *s, uid_t uid, enum gs_role role, bool share,
		   uint64_t now_ns);
/* Forgets starts that count no more; that of a process which has ended; all. */
void gs_starts_drop_old(struct gs_starts *s, uint64_t now_ns);
void gs_starts_drop_of(struct gs_starts *s, struct gs_process *p);
void gs_starts_done(struct gs_starts *s);

#endif /* GPUSCHED_MEANS_STARTS_H */
