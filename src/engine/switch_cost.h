/* SPDX-License-Identifier: MIT */
/*
 * switch_cost.h - what a switch costs each GPU: at most one TSG of a runlist has a slice below it
 *
 * It is the one that the options or gs_core_limits() say for all GPUs; else the GPU's own, as its log
 * says; else an H200's.
 */
#ifndef GPUSCHED_ENGINE_SWITCH_COST_H
#define GPUSCHED_ENGINE_SWITCH_COST_H

#include <stdbool.h>
#include <stdint.h>

struct gs_core;
struct gs_engine;

uint32_t gs_core_switch_cost_us(const struct gs_core *c, uint32_t gpu);
/* The GPU's own; 0: unknown. Has it changed? */
bool gs_core_costs(struct gs_core *c, uint32_t gpu, uint32_t switch_cost_us);
/* The same of the live engine, which then looks at all TSGs. */
void gs_engine_costs(struct gs_engine *e, uint32_t gpu, uint32_t switch_cost_us);

#endif /* GPUSCHED_ENGINE_SWITCH_COST_H */
