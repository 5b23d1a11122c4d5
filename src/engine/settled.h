/* SPDX-License-Identifier: MIT */
/*
 * settled.h - tells the engine what a settled record's process belongs to
 */
#ifndef GPUSCHED_ENGINE_SETTLED_H
#define GPUSCHED_ENGINE_SETTLED_H

#include <stdbool.h>
#include <stdint.h>

struct gpusched_key;
struct gs_engine;

struct gs_settled {
	/*
	 * Its pod's slice is @slice_us from now on; 0: the pod has none. The slice counts where
	 * neither a person nor the policy wants another. Forgotten when the engine ends.
	 */
	bool sliced;
	uint32_t slice_us;
	uint64_t job; /* its job's number, for pauses of the job as a whole; 0: as before */
};

/* Compares the TSG with what is wanted, as gs_engine_touch() does, with these news. */
int gs_engine_settled(struct gs_engine *e, const struct gpusched_key *key,
		      const struct gs_settled *settled);

#endif /* GPUSCHED_ENGINE_SETTLED_H */
