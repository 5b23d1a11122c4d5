/* SPDX-License-Identifier: MIT */
/*
 * wished.h - parks programs that the running policy wishes parked: gpusched_park()
 *
 * All bounds on these wishes are here. A refused wish is counted by the engine (refused_park) and
 * shown in `list`; its reason is logged.
 */
#ifndef GPUSCHED_PARK_WISHED_H
#define GPUSCHED_PARK_WISHED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpusched/abi.h"

struct gs_parking;

/* processes parked by a policy's wish per minute, on all GPUs together */
#define GS_PARK_A_MINUTE 6u
#define GS_PARK_WISHES 64u /* wishes that can wait for the next beat */

struct gs_park_wished {
	struct {
		struct gpusched_key key;
		uint32_t pid, min;
	} all[GS_PARK_WISHES];
	size_t n;
	uint64_t granted_ns[GS_PARK_A_MINUTE]; /* when the last ones were granted; 0: none yet */
	uint64_t told_ns;                      /* when we last logged a refusal */
};

/* Pure: may one more process be parked now? If so, counts it. */
bool gs_park_wish_take(struct gs_park_wished *w, uint64_t now_ns);

/*
 * Notes the policy's wish to park the process of @rec for @min minutes. The next beat carries it
 * out.
 */
void gs_park_wish(struct gs_parking *pk, const struct gpusched_tsg *rec, uint32_t min);
/* As an observer. */
void gs_park_wished_beat(void *self);

#endif /* GPUSCHED_PARK_WISHED_H */
