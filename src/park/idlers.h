/* SPDX-License-Identifier: MIT */
/*
 * idlers.h - remembers processes that were parked automatically, and how soon they had to come back
 *
 * These are processes that were idle, or that a policy asked to park. The list is in memory only:
 * after a restart, the daemon has forgotten it.
 */
#ifndef GPUSCHED_PARK_IDLERS_H
#define GPUSCHED_PARK_IDLERS_H

#include "basic/clock.h"
#include "gpusched/abi.h"
#include "hub/processes.h"
#include "park/again.h"

struct gs_parked;
struct gs_parking;

#define GS_PARK_FAILED_NS (600 * NS_PER_S) /* pause after a parking that failed */

/* A process ("it" in the comments) that was parked automatically. */
struct gs_park_idler {
	struct gs_park_idler *prev, *next;
	struct gs_process *process;
	uint64_t tsg;       /* id of one of its TSGs, which events about the process name */
	uint64_t wished_ns; /* when it was last parked because a policy asked; 0: never */
	/* when we logged that it is not parked automatically any more; 0: it still may be */
	uint64_t told_ns;
	struct gs_park_again again;
};

/* The process that started then; NULL: the hub does not know it. */
struct gs_process *gs_park_idler_process(const struct gs_parking *pk, int32_t pid,
					 uint64_t start_ns);
struct gs_park_idler *gs_park_idler_find(const struct gs_parking *pk, int32_t pid,
					 uint64_t start_ns);
/* Finds or adds the process of @rec. NULL: too many processes are known. */
struct gs_park_idler *gs_park_idler_remember(struct gs_parking *pk, const struct gpusched_tsg *rec);
/* Called when @p runs again: records how soon it had to come back, or that its parking failed. */
void gs_park_idler_back(struct gs_parking *pk, const struct gs_parked *p);
/* The observer's function: forgets what park/ keeps of the process. */
void gs_park_idler_process_ended(void *self, struct gs_process *p);
void gs_park_idlers_free(struct gs_parking *pk);

#endif /* GPUSCHED_PARK_IDLERS_H */
