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

#include "means/choice.h"

#define GS_STARTS 64u
#define GS_STARTS_USER 8u
#define GS_STARTS_S 60 /* a start counts for so long, and while its process lives */

struct gs_start {
	uint64_t ns; /* CLOCK_MONOTONIC, of the choice; 0: none */
	pid_t pid;
	uint64_t start_ns; /* when the process began, as gs_started() has it */
	uid_t uid;
	enum gs_role role;
	bool share; /* it was told to run in its user's shared server */
};

/* The last GS_STARTS starts of all users, at most GS_STARTS_USER of one. */
struct gs_starts {
	struct gs_start last[GS_STARTS];
};

/*
 * A process has one start, its last. A start whose process has no beginning (@start->start_ns is 0)
 * is not remembered.
 */
void gs_starts_add(struct gs_starts *s, const struct gs_start *start);
/* True if the process with this pid and beginning lives. */
typedef bool (*gs_lives_fn)(pid_t pid, uint64_t start_ns);
/* True if such a start of that user counts. */
bool gs_starts_has(const struct gs_starts *s, uid_t uid, enum gs_role role, bool share,
		   uint64_t now_ns, gs_lives_fn lives);

#endif /* GPUSCHED_MEANS_STARTS_H */
