/* SPDX-License-Identifier: MIT */
/* core_hold.h - finds the TSG for which a runlist's BE TSGs are suspended */
#ifndef GPUSCHED_ENGINE_CORE_HOLD_H
#define GPUSCHED_ENGINE_CORE_HOLD_H

#include "engine/core.h"

/* The TSG that holds @rec's runlist for its request; the first if several do; 0: none. */
uint64_t gs_core_holder(const struct gs_core *c, const struct gpusched_tsg *rec);

#endif /* GPUSCHED_ENGINE_CORE_HOLD_H */
