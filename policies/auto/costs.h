/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * auto/costs.h - computes what switches cost on a GPU, and slices that follow from that
 *
 * Pure: struct gpusched_gpu goes in, struct costs comes out.
 */
#ifndef AUTO_COSTS_H
#define AUTO_COSTS_H

#include "gpusched/arith.h"
#include "gpusched/policy_types.h"

/* Costs on an H200, used until the costs on this GPU are known. */
#define H200_SWITCH_US 175ull
#define H200_LOST_US 84ull
#define H200_TURN_NS (120 * 1000ull)
#define H200_WASTE_PCT 10ull
#define WASTE_MAX_PCT 25ull

struct costs {
	gs_u64 switch_us; /* cost of a switch from one BE to another */
	gs_u64 turn_ns;   /* part of each turn without work: loading and saving */
	gs_u64 waste_pct; /* percentage of a runlist's time that switches may take */
};

/* The cost of switching from a BE to LC and back. */
GPUSCHED_INLINE gs_u64 costs_round_trip_us(const struct costs *c)
{
	return c->switch_us * 13 / 7;
}

/* A slice far above the cost of a switch, in which a BE makes progress. Slices grow from here. */
GPUSCHED_INLINE gs_u64 costs_grown_us(const struct costs *c)
{
	return c->switch_us * 16 / 7;
}

/* The slice of a TSG that may wake up during another TSG's turn: some seven switch costs. */
GPUSCHED_INLINE gs_u64 costs_idle_us(const struct costs *c)
{
	return c->switch_us * 48 / 7;
}

/*
 * The slice of @n TSGs of a job that share its turn. Short ones would only cause switches. With
 * long ones, LC would wait long for a round of all of them.
 */
GPUSCHED_INLINE gs_u64 costs_shared_us(const struct costs *c, gs_u64 n)
{
	return gs_most(gpusched_div(2 * costs_idle_us(c), n), costs_grown_us(c));
}

/* If an LC works longer than this per turn, long BE slices cost it more than all switches do. */
GPUSCHED_INLINE gs_u64 costs_long_work_us(const struct costs *c)
{
	return 2 * costs_round_trip_us(c);
}

/* True if LC works that long per turn. Its @turns turns held the GPU for @held_ns in all. */
GPUSCHED_INLINE int costs_are_long(const struct costs *c, gs_u64 held_ns, gs_u64 turns)
{
	return held_ns > turns * (costs_long_work_us(c) * 1000 + c->turn_ns);
}

/*
 * Returns the percentage of time that switches may take. If a switch takes longer than on an H200,
 * the same protection of LC costs more. Then the percentage grows half as much as the cost, and
 * longer BE slices save the other half.
 */
GPUSCHED_INLINE gs_u64 costs_waste_of(const struct gpusched_gpu *gpu)
{
	gs_u64 us = gs_most(gpu->switch_us, H200_LOST_US);

	return gs_least(H200_WASTE_PCT * (us + H200_LOST_US) / (2 * H200_LOST_US), WASTE_MAX_PCT);
}

/*
 * Returns @fitted if @us is within a tenth of it: costs are not known better, and other constants
 * were fitted to @fitted.
 */
GPUSCHED_INLINE gs_u64 costs_to_a_tenth(gs_u64 us, gs_u64 fitted)
{
	return us * 10 >= fitted * 9 && us * 10 <= fitted * 11 ? fitted : us;
}

/*
 * Computes the costs on a GPU. No log shows how long a TSG's restore takes, so this assumes a fifth
 * of the save. @asked_pct: option waste_pct; 0: costs_waste_of() decides.
 */
GPUSCHED_INLINE void monitor_learn_costs(struct costs *c, const struct gpusched_gpu *gpu,
					 gs_u64 asked_pct)
{
	const gs_u32 both = GPUSCHED_GPU_SAVE | GPUSCHED_GPU_SWITCH;

	c->switch_us = H200_SWITCH_US;
	c->turn_ns = H200_TURN_NS;
	if ((gpu->known & both) == both)
		c->switch_us =
			costs_to_a_tenth((gs_u64)gpu->switch_us + gpu->save_us, H200_SWITCH_US);
	if (gpu->known & GPUSCHED_GPU_SAVE)
		c->turn_ns = costs_to_a_tenth(gpu->save_us * 1200ull, H200_TURN_NS);
	c->waste_pct = asked_pct ? asked_pct : costs_waste_of(gpu);
}

#endif /* AUTO_COSTS_H */
