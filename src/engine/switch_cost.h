/* SPDX-License-Identifier: MIT */
/*
 * switch_cost.h - keeps the cost of a context switch on each GPU
 *
 * At most one TSG of a runlist has a slice below the switch cost. The options or gs_core_limits()
 * may set one cost for all GPUs. Otherwise each GPU has its own, measured from its log. Before it
 * is measured, the cost of an H200 counts.
 */
#ifndef GPUSCHED_ENGINE_SWITCH_COST_H
#define GPUSCHED_ENGINE_SWITCH_COST_H

#include <stdbool.h>
#include <stdint.h>

struct gs_core;
struct gs_engine;

uint32_t gs_core_switch_cost_us(const struct gs_core *c, uint32_t gpu);
/* Sets the GPU's own cost; 0: unknown. Returns true if that changed it. */
bool gs_core_costs(struct gs_core *c, uint32_t gpu, uint32_t switch_cost_us);
/* Sets the GPU's own cost in the live engine, which then compares all TSGs. */
void gs_engine_costs(struct gs_engine *e, uint32_t gpu, uint32_t switch_cost_us);

#endif /* GPUSCHED_ENGINE_SWITCH_COST_H */
