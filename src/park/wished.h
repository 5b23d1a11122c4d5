/* SPDX-License-Identifier: MIT */
/*
 * wished.h - programs that the running policy wishes parked: gpusched_park()
 *
 * The bounds of these wishes are here and nowhere else. A wish that is refused is counted by the
 * engine (refused_park), shown in `list`, and its reason is logged.
 */
#ifndef GPUSCHED_PARK_WISHED_H
#define GPUSCHED_PARK_WISHED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpusched/abi.h"

struct gs_parking;

#define GS_PARK_A_MINUTE 6u /* by wishes of a policy, on all GPUs */
#define GS_PARK_WISHES 64u  /* that wait for the next beat */

struct gs_park_wished {
	struct {
		struct gpusched_key key;
		uint32_t pid, min;
	} all[GS_PARK_WISHES];
	size_t n;
	uint64_t granted_ns[GS_PARK_A_MINUTE]; /* the last ones; 0: none yet */
	uint64_t told_ns;                      /* when a refusal was logged last */
};

/* Pure: may one more process be parked now? If so, it counts. */
bool gs_park_wish_take(struct gs_park_wished *w, uint64_t now_ns);

/* The policy wishes the process of @rec parked for @min minutes. Carried out at the next beat. */
void gs_park_wish(struct gs_parking *pk, const struct gpusched_tsg *rec, uint32_t min);
/* As an observer. */
void gs_park_wished_beat(void *self);

#endif /* GPUSCHED_PARK_WISHED_H */
