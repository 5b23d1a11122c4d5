/* SPDX-License-Identifier: MIT */
/* held.h - finds the TSG for which a runlist's BE TSGs are suspended, in the live engine */
#ifndef GPUSCHED_ENGINE_HELD_H
#define GPUSCHED_ENGINE_HELD_H

#include <stdint.h>

struct gs_engine;
struct gpusched_tsg;

/* The TSG with the request for which @rec's runlist is held; 0: none. */
uint64_t gs_engine_holder(const struct gs_engine *e, const struct gpusched_tsg *rec);

#endif /* GPUSCHED_ENGINE_HELD_H */
