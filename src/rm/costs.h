/* SPDX-License-Identifier: MIT */
/*
 * costs.h - describes how much time a GPU loses when it switches from one TSG to another
 *
 * Costs hold for one product and driver branch. They are measured for the product, found in a GPU's
 * log (account/calibration.h), or defaults. All other code takes them from here.
 */
#ifndef GPUSCHED_RM_COSTS_H
#define GPUSCHED_RM_COSTS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Source of a cost: measured for the product, calibrated from the GPU's current log, kept from an
 * earlier log of the same GPU, or measured by `gpusched qualify`.
 */
enum gs_cost_basis {
	GS_COST_UNKNOWN,
	GS_COST_MEASURED,
	GS_COST_CALIBRATED,
	GS_COST_KEPT,
	GS_COST_QUALIFIED,
	GS_COST_BASES,
};
extern const char *const gs_cost_basis_words[];

/* A cost of 0 is unknown. START and END are records of the context-switch log. */
struct gs_costs {
	uint64_t unit_ps; /* how long the GPU runs a TSG per us of its timeslice */
	/*
	 * Saving a TSG in CILP, from the end of its slice to its END: least, usual and longest
	 * time. All three are known, or none.
	 */
	uint64_t save_low_ns, save_ns, save_high_ns;
	uint64_t switch_ns; /* from one TSG's END to the START of a waiting TSG */
	/* from START to the first instruction, for a TSG that was saved in CILP */
	uint64_t restore_ns;
	uint64_t idle_turn_ns; /* overhead of a drained turn: loading, and saving an idle TSG */
	/* restore_basis holds for restore_ns and idle_turn_ns */
	enum gs_cost_basis save_basis, switch_basis, restore_basis;
	/* when a kept or qualified cost was measured, in seconds since 1970 */
	uint64_t save_at_s, switch_at_s, restore_at_s;
};

/* An H200's costs: the defaults for a GPU with unknown costs. Never judge a GPU by them. */
extern const struct gs_costs gs_costs_h200;

/*
 * The costs measured on @product (as the driver names it) with driver branch @branch. All costs are
 * unknown if this pair has not been measured.
 */
struct gs_costs gs_costs_measured(const char *product, unsigned int branch);

/* True for a cost from elsewhere than the current log. It holds until the log contradicts it. */
static inline bool gs_cost_is_prior(enum gs_cost_basis basis)
{
	return basis == GS_COST_MEASURED || basis == GS_COST_KEPT || basis == GS_COST_QUALIFIED;
}

/* A copy of @c to store for later: calibrated costs are marked as kept, measured at @now_s. */
struct gs_costs gs_costs_as_kept(const struct gs_costs *c, uint64_t now_s);

/* True if each cost is unknown or within the range seen on real GPUs. */
bool gs_costs_plausible(const struct gs_costs *c);

/*
 * The time to save a TSG and switch, plus a margin, in us; 0: unknown. With shorter slices, two
 * TSGs would spend most of the GPU's time on switches.
 */
uint32_t gs_costs_slice_us(const struct gs_costs *c);

/* Time in us from the decision to leave one TSG to the START of the next; 0: unknown. */
uint32_t gs_costs_lead_us(const struct gs_costs *c);

#endif /* GPUSCHED_RM_COSTS_H */
