/* SPDX-License-Identifier: MIT */
/*
 * idlers.h - what is remembered of processes that were parked by themselves
 *
 * In memory alone: a daemon that starts anew does not know how soon one was wanted back.
 */
#ifndef GPUSCHED_PARK_IDLERS_H
#define GPUSCHED_PARK_IDLERS_H

#include "basic/clock.h"
#include "gpusched/abi.h"
#include "park/again.h"

struct gs_parked;
struct gs_parking;

#define GS_PARK_FAILED_NS (600 * NS_PER_S) /* one that could not be parked is tried again then */

struct gs_park_idler {
	struct gs_park_idler *prev, *next;
	int32_t pid;
	uint64_t start_ns;
	uint32_t uid;
	char comm[GPUSCHED_COMM_LEN + 1];
	uint64_t tsg;       /* one that it had when it was last looked at */
	uint64_t wished_ns; /* when a policy's wish to park it was last carried out; 0: never */
	uint64_t told_ns;   /* it is left alone since then; 0: it is not */
	struct gs_park_again again;
};

struct gs_park_idler *gs_park_idler_find(const struct gs_parking *pk, int32_t pid,
					 uint64_t start_ns);
/* NULL: there is no room for one more. */
struct gs_park_idler *gs_park_idler_remember(struct gs_parking *pk, const struct gpusched_tsg *rec);
/* @p runs again. */
void gs_park_idler_back(struct gs_parking *pk, const struct gs_parked *p);
/* Those that have ended are forgotten. */
void gs_park_idlers_tend(struct gs_parking *pk);
void gs_park_idlers_free(struct gs_parking *pk);

#endif /* GPUSCHED_PARK_IDLERS_H */
