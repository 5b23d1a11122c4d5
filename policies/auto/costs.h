/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * auto/costs.h - what switches cost on a GPU, and the lengths of slices that follow from that
 *
 * Pure: struct gpusched_gpu goes in, struct costs comes out.
 */
#ifndef AUTO_COSTS_H
#define AUTO_COSTS_H

#include "gpusched/arith.h"
#include "gpusched/policy_types.h"

/* The costs of an H200, which serve while nothing is known of this GPU. */
#define H200_SWITCH_US 175ull
#define H200_LOST_US 84ull
#define H200_TURN_NS (120 * 1000ull)
#define H200_WASTE_PCT 10ull
#define WASTE_MAX_PCT 25ull

struct costs {
	gs_u64 switch_us; /* a switch from one BE to another */
	gs_u64 turn_ns;   /* the part of a turn without work: loading and saving */
	gs_u64 waste_pct; /* the part of a runlist's time that may go into switches */
};

/* The cost of the switches from a BE to LC and back. */
GPUSCHED_INLINE gs_u64 costs_round_trip_us(const struct costs *c)
{
	return c->switch_us * 13 / 7;
}

/* The first slice of a BE that makes progress, far above the cost of a switch. */
GPUSCHED_INLINE gs_u64 costs_grown_us(const struct costs *c)
{
	return c->switch_us * 16 / 7;
}

/* The slice of a TSG that may wake up beside another's turn: some seven switches long. */
GPUSCHED_INLINE gs_u64 costs_idle_us(const struct costs *c)
{
	return c->switch_us * 48 / 7;
}

/* An LC that works longer than this in a turn loses more by long BE slices than by all switches. */
GPUSCHED_INLINE gs_u64 costs_long_work_us(const struct costs *c)
{
	return 2 * costs_round_trip_us(c);
}

/* True if LC works that long in each of @turns turns, which hold the GPU for @held_ns in all. */
GPUSCHED_INLINE int costs_are_long(const struct costs *c, gs_u64 held_ns, gs_u64 turns)
{
	return held_ns > turns * (costs_long_work_us(c) * 1000 + c->turn_ns);
}

/*
 * Returns the part of the time that may go into switches, by how long a switch takes. If it takes
 * longer than on an H200, the same protection of LC costs more. The part then grows half as much as
 * the cost: BEs pay the rest, with longer slices.
 */
GPUSCHED_INLINE gs_u64 costs_waste_of(const struct gpusched_gpu *gpu)
{
	gs_u64 us = gs_most(gpu->switch_us, H200_LOST_US);

	return gs_least(H200_WASTE_PCT * (us + H200_LOST_US) / (2 * H200_LOST_US), WASTE_MAX_PCT);
}

/* Costs are known to within a tenth. If @us is that near to @fitted, the rest was fitted to it. */
GPUSCHED_INLINE gs_u64 costs_to_a_tenth(gs_u64 us, gs_u64 fitted)
{
	return us * 10 >= fitted * 9 && us * 10 <= fitted * 11 ? fitted : us;
}

/*
 * Works out the costs of a GPU. No log shows how long a TSG's restore takes: it counts as a fifth
 * of the save. @asked_pct: option waste_pct; 0: costs_waste_of() decides.
 */
GPUSCHED_INLINE void costs_learn(struct costs *c, const struct gpusched_gpu *gpu, gs_u64 asked_pct)
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
