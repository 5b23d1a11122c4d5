/* SPDX-License-Identifier: MIT */
/*
 * costs.h - what a switch from one TSG to another costs a GPU
 *
 * These are facts of one kind of GPU and driver. All other code takes costs from here: those
 * measured for a product, those found in a GPU's log (account/calibration.h), or defaults.
 */
#ifndef GPUSCHED_RM_COSTS_H
#define GPUSCHED_RM_COSTS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * How a cost is known: measured for the product, calibrated from the present log, kept from an
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

/* 0: unknown. */
struct gs_costs {
	uint64_t unit_ps; /* the GPU's time for one us of a timeslice */
	/* CILP: from the end of the last slice to END; either all three are known, or none */
	uint64_t save_low_ns, save_ns, save_high_ns;
	uint64_t switch_ns; /* END to START of another TSG that waits */
	/* START to the first instruction, for a TSG that was saved in CILP. */
	uint64_t restore_ns;
	uint64_t idle_turn_ns; /* for a turn that drained: loading, and saving an idle TSG */
	/* restore_basis: of restore_ns and idle_turn_ns */
	enum gs_cost_basis save_basis, switch_basis, restore_basis;
	/* When a kept or qualified cost was measured, in seconds since 1970. */
	uint64_t save_at_s, switch_at_s, restore_at_s;
};

/* An H200's costs. They serve as defaults if nothing is known, and never to judge a GPU. */
extern const struct gs_costs gs_costs_h200;

/*
 * Costs that were measured of a product (the driver's name for it) with the firmware of a driver
 * branch. All are unknown if nobody has measured these two together.
 */
struct gs_costs gs_costs_measured(const char *product, unsigned int branch);

/* True for a cost known from elsewhere, which holds until the log contradicts it. */
static inline bool gs_cost_is_prior(enum gs_cost_basis basis)
{
	return basis == GS_COST_MEASURED || basis == GS_COST_KEPT || basis == GS_COST_QUALIFIED;
}

/* The same costs for later use: calibrated ones become kept ones, as of @now_s. */
struct gs_costs gs_costs_as_kept(const struct gs_costs *c, uint64_t now_s);

/* True if each cost is unknown, or one that a real GPU may have. */
bool gs_costs_plausible(const struct gs_costs *c);

/*
 * us: saving and switching, with some margin. Two TSGs with slices below that would only switch. 0:
 * unknown.
 */
uint32_t gs_costs_slice_us(const struct gs_costs *c);

/* ns: a turn of this length costs half its time in switching; an H200's if that is unknown. */
uint64_t gs_costs_short_turn_ns(const struct gs_costs *c);

/* us: from the decision to leave one TSG to the START of the next; 0: unknown. */
uint32_t gs_costs_lead_us(const struct gs_costs *c);

#endif /* GPUSCHED_RM_COSTS_H */
