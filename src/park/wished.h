/* SPDX-License-Identifier: MIT */
/*
 * wished.h - parks programs when the running policy asks for it: gpusched_park()
 *
 * A policy's request is called a wish. This file enforces all limits on wishes. The engine counts a
 * refused wish (refused_park), `list` shows it, and the log has the reason.
 */
#ifndef GPUSCHED_PARK_WISHED_H
#define GPUSCHED_PARK_WISHED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpusched/abi.h"

struct gs_parking;

/* most processes that are parked by a policy's wish per minute, on all GPUs together */
#define GS_PARK_A_MINUTE 6u
#define GS_PARK_WISHES 64u /* most wishes that can wait for the next heartbeat */

struct gs_park_wished {
	struct {
		struct gpusched_key key;
		uint32_t pid, min;
	} all[GS_PARK_WISHES];
	size_t n;
	uint64_t granted_ns[GS_PARK_A_MINUTE]; /* times of the last granted wishes; 0: unused */
	uint64_t told_ns;                      /* when we last logged a refusal */
};

/* Pure. If one more process may be parked this minute, counts it and returns true. */
bool gs_park_wish_take(struct gs_park_wished *w, uint64_t now_ns);

/*
 * Queues the policy's wish to park the process of @rec for @min minutes. The next heartbeat carries
 * it out.
 */
void gs_park_wish(struct gs_parking *pk, const struct gpusched_tsg *rec, uint32_t min);
/* Observer callback for each heartbeat: carries out the queued wishes. */
void gs_park_wished_beat(void *self);

#endif /* GPUSCHED_PARK_WISHED_H */
