/* SPDX-License-Identifier: MIT */
/*
 * spend.h - suspends TSGs of a user or cgroup that has used up its GPU time
 */
#ifndef GPUSCHED_ENGINE_SPEND_H
#define GPUSCHED_ENGINE_SPEND_H

#include <stdbool.h>

struct gpusched_key;
struct gs_engine;

/*
 * @spent: the TSG's GPU time is used up and others want the GPU. Meanwhile the TSG is suspended,
 * against wishes of the policy and of users other than root. The engine forgets this when it ends.
 */
int gs_engine_spend(struct gs_engine *e, const struct gpusched_key *key, bool spent);

#endif /* GPUSCHED_ENGINE_SPEND_H */
