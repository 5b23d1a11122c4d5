// SPDX-License-Identifier: MIT
#include "rm/costs.h"

#include <stddef.h>
#include <string.h>

#include "basic/cleanup.h"

const char *const gs_cost_basis_words[] = { "unknown", "measured",  "calibrated",
					    "kept",    "qualified", NULL };

/*
 * From docs/facts.md. A save took 94 to 110 us on an H200, and 83 and 107 us on two H100s. The
 * bounds save_low_ns and save_high_ns leave a margin.
 */
#define H200 \
	{ \
		.unit_ps = 1024000, .save_low_ns = 70000, .save_ns = 100000, \
		.save_high_ns = 150000, .switch_ns = 84000, .restore_ns = 24000, \
		.idle_turn_ns = 62000, .save_basis = GS_COST_MEASURED, \
		.switch_basis = GS_COST_MEASURED, .restore_basis = GS_COST_MEASURED, \
	}

const struct gs_costs gs_costs_h200 = H200;

static const struct {
	const char *product;
	unsigned int branch;
	struct gs_costs costs;
} measured[] = {
	{ "NVIDIA H200", 580, H200 },
	{ "NVIDIA H100 80GB HBM3", 580, H200 },
};

/* Costs beyond these bounds are implausible: no known GPU has them. */
#define COST_MAX_NS 5000000u
#define UNIT_MIN_PS 500000u
#define UNIT_MAX_PS 4000000u

/* gs_costs_slice_us() rounds up to this step, so that small changes of costs rarely change it. */
#define STEP_NS 10000u

struct gs_costs gs_costs_as_kept(const struct gs_costs *c, uint64_t now_s)
{
	struct gs_costs kept = *c;

	if (c->save_basis == GS_COST_CALIBRATED) {
		kept.save_basis = GS_COST_KEPT;
		kept.save_at_s = now_s;
	}
	if (c->switch_basis == GS_COST_CALIBRATED) {
		kept.switch_basis = GS_COST_KEPT;
		kept.switch_at_s = now_s;
	}
	return kept;
}

/* True if unit_ps and the three save times are all unknown, or all known and in range. */
static bool save_plausible(const struct gs_costs *c)
{
	if (!c->unit_ps || !c->save_ns || !c->save_high_ns)
		return !c->unit_ps && !c->save_ns && !c->save_low_ns && !c->save_high_ns &&
		       c->save_basis == GS_COST_UNKNOWN;
	return c->save_basis != GS_COST_UNKNOWN && c->unit_ps >= UNIT_MIN_PS &&
	       c->unit_ps <= UNIT_MAX_PS && c->save_low_ns <= c->save_ns &&
	       c->save_ns <= c->save_high_ns && c->save_high_ns <= COST_MAX_NS;
}

bool gs_costs_plausible(const struct gs_costs *c)
{
	return save_plausible(c) && c->switch_ns <= COST_MAX_NS &&
	       !c->switch_ns == (c->switch_basis == GS_COST_UNKNOWN) &&
	       c->restore_ns <= COST_MAX_NS && c->idle_turn_ns <= COST_MAX_NS &&
	       (!c->restore_ns && !c->idle_turn_ns) == (c->restore_basis == GS_COST_UNKNOWN);
}

uint32_t gs_costs_slice_us(const struct gs_costs *c)
{
	uint64_t ns = (c->save_ns + c->switch_ns) * 13 / 12;

	if (!c->save_ns || !c->switch_ns)
		return 0;
	return (uint32_t)((ns + STEP_NS - 1) / STEP_NS * (STEP_NS / 1000));
}

uint32_t gs_costs_lead_us(const struct gs_costs *c)
{
	if (!c->save_ns || !c->switch_ns)
		return 0;
	return (uint32_t)((c->save_ns + c->switch_ns) / 1000);
}

struct gs_costs gs_costs_measured(const char *product, unsigned int branch)
{
	for (size_t i = 0; i < GS_COUNT(measured); i++)
		if (!strcmp(product, measured[i].product) && branch == measured[i].branch)
			return measured[i].costs;
	return (struct gs_costs){ 0 };
}
