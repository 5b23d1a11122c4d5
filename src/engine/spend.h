/* SPDX-License-Identifier: MIT */
/*
 * spend.h - TSGs of a user or cgroup that has used up its GPU time
 */
#ifndef GPUSCHED_ENGINE_SPEND_H
#define GPUSCHED_ENGINE_SPEND_H

#include <stdbool.h>

struct gpusched_key;
struct gs_engine;

/*
 * The TSG's time is used up and others want the GPU, or no longer. It is suspended as long as that
 * is so, against wishes of the policy and of users other than root. Forgotten when the engine ends.
 */
int gs_engine_spend(struct gs_engine *e, const struct gpusched_key *key, bool spent);

#endif /* GPUSCHED_ENGINE_SPEND_H */
