/* SPDX-License-Identifier: MIT */
/*
 * costs.h - what it costs a GPU to go from one TSG to another
 *
 * These are facts of one kind of GPU and driver. All else takes them from here: what was measured of
 * a product, what the log of a GPU says (account/calibration.h), or what to go by meanwhile.
 */
#ifndef GPUSCHED_RM_COSTS_H
#define GPUSCHED_RM_COSTS_H

#include <stdint.h>

/* How a cost is known. */
enum gs_cost_basis { GS_COST_UNKNOWN, GS_COST_MEASURED, GS_COST_CALIBRATED };
extern const char *const gs_cost_basis_words[];

/* 0: not known. */
struct gs_costs {
	uint64_t unit_ps; /* one us of a timeslice, of the GPU's time */
	/* CILP: from the end of the last slice to END; all three are known, or none */
	uint64_t save_low_ns, save_ns, save_high_ns;
	uint64_t switch_ns;    /* END to START of one that waits */
	uint64_t restore_ns;   /* START to the first instruction, of what was saved in CILP */
	uint64_t idle_turn_ns; /* of a turn that drained: loading, and saving what is idle */
	enum gs_cost_basis save_basis, switch_basis;
};

/* An H200's costs. For use where nothing is known, as in defaults: never for a judgement. */
extern const struct gs_costs gs_costs_h200;

/*
 * The costs of that product, as the driver names it, with that branch's firmware; else all is
 * unknown.
 */
struct gs_costs gs_costs_measured(const char *product, unsigned int branch);

/*
 * us: saving and switching, with some margin. Two TSGs with slices below that would only switch. 0:
 * unknown.
 */
uint32_t gs_costs_slice_us(const struct gs_costs *c);

/* us: from the decision to leave one TSG to the START of the next; 0: unknown. */
uint32_t gs_costs_lead_us(const struct gs_costs *c);

#endif /* GPUSCHED_RM_COSTS_H */
