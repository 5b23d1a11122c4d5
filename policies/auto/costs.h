/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * auto/costs.h - what switches cost the GPU of runlist @r, and lengths that follow from it
 */
#ifndef AUTO_COSTS_H
#define AUTO_COSTS_H

/* An H200's, to go by while nothing is known. */
#define H200_SWITCH_US 175ull
#define H200_LOST_US 84ull
#define H200_TURN_NS (120 * 1000ull)
#define H200_WASTE_PCT 10ull
#define WASTE_MAX_PCT 25ull

/* From one BE to another; to LC and back. */
#define SWITCH_US (r->switch_us)
#define ROUND_TRIP_US (SWITCH_US * 13 / 7)
/* The first slice of a BE that makes progress, far above the cost of a switch. */
#define GROWN_US (SWITCH_US * 16 / 7)
/* For a TSG that may wake up beside another's turn: some seven switches long. */
#define IDLE_US (SWITCH_US * 48 / 7)
/* A turn has so much of the GPU without working: its context is loaded and saved. */
#define TURN_COST_NS (r->turn_cost_ns)
/* LC that works for longer in a turn pays more for a long slice than all switches cost. */
#define LONG_WORK_US (2 * ROUND_TRIP_US)

GPUSCHED_INLINE int are_long(const struct runlist *r, gs_u64 held_ns, gs_u64 turns)
{
	return held_ns > turns * (LONG_WORK_US * 1000 + TURN_COST_NS);
}

/*
 * So much may go into switches, by the time between turns. Where that is longer, the same protection
 * takes more of them: half as much more, for BEs pay the rest by longer slices.
 */
GPUSCHED_INLINE gs_u64 waste_of(const struct runlist *r)
{
	gs_u64 us = most(r->gpu.switch_us, H200_LOST_US);

	if (waste_pct)
		return waste_pct;
	return least(H200_WASTE_PCT * (us + H200_LOST_US) / (2 * H200_LOST_US), WASTE_MAX_PCT);
}

/* Costs are known to a tenth. Within that they are the ones that all else was fitted to. */
GPUSCHED_INLINE gs_u64 to_a_tenth(gs_u64 us, gs_u64 fitted)
{
	return us * 10 >= fitted * 9 && us * 10 <= fitted * 11 ? fitted : us;
}

/*
 * From what the host knows of the GPU (r->gpu). Restoring shows in no log: it takes a fifth of the
 * saving that is told. It has a stack of its own, and calls nothing: on old kernels there is no room
 * below.
 */
static __attribute__((noinline)) int learn_costs(struct runlist *r)
{
	const gs_u32 both = GPUSCHED_GPU_SAVE | GPUSCHED_GPU_SWITCH;

	if (!r)
		return 0;
	r->switch_us = H200_SWITCH_US;
	r->turn_cost_ns = H200_TURN_NS;
	if ((r->gpu.known & both) == both)
		r->switch_us = to_a_tenth(r->gpu.switch_us + r->gpu.save_us, H200_SWITCH_US);
	if (r->gpu.known & GPUSCHED_GPU_SAVE)
		r->turn_cost_ns = to_a_tenth(r->gpu.save_us * 1200ull, H200_TURN_NS);
	r->waste_pct = waste_of(r);
	return 0;
}

#endif /* AUTO_COSTS_H */
