// SPDX-License-Identifier: MIT
#include "rm/costs.h"

#include <stddef.h>
#include <string.h>

#include "basic/cleanup.h"

const char *const gs_cost_basis_words[] = { "unknown", "measured", "calibrated", NULL };

/* From docs/facts.md. A save took 94 to 110 us there; the bounds leave a margin. */
#define H200 \
	{ \
		.unit_ps = 1024000, .save_low_ns = 70000, .save_ns = 100000, \
		.save_high_ns = 150000, .switch_ns = 84000, .restore_ns = 24000, \
		.idle_turn_ns = 62000, .save_basis = GS_COST_MEASURED, \
		.switch_basis = GS_COST_MEASURED, \
	}

const struct gs_costs gs_costs_h200 = H200;

static const struct {
	const char *product;
	unsigned int branch;
	struct gs_costs costs;
} measured[] = {
	{ "NVIDIA H200", 580, H200 },
};

struct gs_costs gs_costs_measured(const char *product, unsigned int branch)
{
	for (size_t i = 0; i < GS_COUNT(measured); i++)
		if (!strcmp(product, measured[i].product) && branch == measured[i].branch)
			return measured[i].costs;
	return (struct gs_costs){ 0 };
}
