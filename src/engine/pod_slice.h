/* SPDX-License-Identifier: MIT */
/*
 * pod_slice.h - gives TSGs the slice that their pod's claim asks for
 */
#ifndef GPUSCHED_ENGINE_POD_SLICE_H
#define GPUSCHED_ENGINE_POD_SLICE_H

#include <stdint.h>

struct gpusched_key;
struct gs_engine;

/*
 * Compares the TSG with what is wanted, as gs_engine_touch() does. Its pod's slice is @us from now
 * on; 0: the pod has none. The slice counts where neither a person nor the policy wants another.
 * Forgotten when the engine ends.
 */
int gs_engine_pod_slice(struct gs_engine *e, const struct gpusched_key *key, uint32_t us);

#endif /* GPUSCHED_ENGINE_POD_SLICE_H */
