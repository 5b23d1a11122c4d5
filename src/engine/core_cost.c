// SPDX-License-Identifier: MIT
#include "engine/core_priv.h"
#include "engine/switch_cost.h"
#include "rm/costs.h"

uint32_t gs_core_switch_cost_us(const struct gs_core *c, uint32_t gpu)
{
	uint32_t known = gs_core_budget(c, gpu)->switch_cost_us;

	if (c->opts.switch_cost_us)
		return c->opts.switch_cost_us;
	return known ? known : gs_costs_slice_us(&gs_costs_h200);
}
