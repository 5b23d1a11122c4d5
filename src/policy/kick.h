/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * kick.h - limits how often gpusched_kick() may cause a round, the same on every host
 *
 * Programs can cause any number of callbacks (one for each launch). So for each TSG and for each
 * user there is a limit on the rounds that a policy may request in their callbacks. In addition the
 * stock host keeps these rounds within the part of a CPU that the tick may take (ticker.c).
 */
#ifndef GPUSCHED_POLICY_KICK_H
#define GPUSCHED_POLICY_KICK_H

#include "gpusched/abi.h"

#define GS_KICK_WINDOW_NS 1000000000ull
#define GS_KICKS_PER_TSG 100 /* per window; callbacks without a TSG together count as one TSG */
#define GS_KICK_KEYS 4096

/* Keys of the counts: a TSG's id, GS_KICK_NO_TSG, or GS_KICK_OF_UID(). */
#define GS_KICK_NO_TSG 0ull
#define GS_KICK_OF_UID(uid) (1ull << 63 | (gs_u32)(uid))

struct gs_kicks {
	gs_u64 since_ns; /* begin of the present window */
	gs_u64 n;        /* kicks in the window */
};

static inline __attribute__((always_inline)) int gs_kick_take(struct gs_kicks *k, gs_u64 now,
							      gs_u64 limit)
{
	if (now - k->since_ns >= GS_KICK_WINDOW_NS) {
		k->since_ns = now;
		k->n = 0;
	}
	return ++k->n <= limit;
}

#endif /* GPUSCHED_POLICY_KICK_H */
