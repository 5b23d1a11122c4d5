// SPDX-License-Identifier: MIT
/* test_leaving.c - check how long BEs take to leave the GPU, and the means chosen from that */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "basic/clock.h"
#include "basic/rng.h"
#include "gpusched/abi.h"
#include "means/leaving.h"

#define SLICE_US 2048
#define BES 2

/* Costs of a GPU, in us; unit_ps: how many ps a nominal us of a slice lasts. */
struct kind_of_gpu {
	uint64_t unit_ps, save_cilp, save_cta, switches;
};
static const struct kind_of_gpu h200 = { 1024000, 100, 58, 84 };
static const struct kind_of_gpu h100 = { 1031000, 83, 54, 79 };
static const struct kind_of_gpu other = { 1280000, 158, 98, 142 };

/* A log of BEs that take turns on the GPU. */
struct world {
	struct gs_turns *turns;
	struct kind_of_gpu gpu;
	uint64_t ns, rng, block_us;
	uint32_t mode, slice_us;
	struct gs_leaving leaving; /* of the first BE */
};

static uint64_t turn_ns(struct world *w)
{
	uint64_t slice = w->slice_us * w->gpu.unit_ps / 1000;
	uint64_t jitter = gs_rng_range(&w->rng, 0, 4000);

	if (w->mode == GPUSCHED_PREEMPT_CILP)
		return slice + w->gpu.save_cilp * NS_PER_US + jitter;
	return slice + w->gpu.save_cta * NS_PER_US + jitter +
	       gs_rng_range(&w->rng, 0, w->block_us * NS_PER_US);
}

static void run(struct world *w, unsigned int seconds)
{
	uint64_t until = w->ns + seconds * NS_PER_S, look = w->ns + NS_PER_S;
	struct gs_turn_sums sums;

	for (uint64_t id = 1; w->ns < until; id = id % BES + 1) {
		gs_turns_feed(w->turns, &(struct gs_switch){ w->ns, true, false }, id);
		w->ns += turn_ns(w);
		gs_turns_feed(w->turns, &(struct gs_switch){ w->ns, false, false }, id);
		w->ns += w->gpu.switches * NS_PER_US;
		if (w->ns < look)
			continue;
		look += NS_PER_S;
		assert_int_equal(gs_turns_of(w->turns, 1, &sums), 0);
		gs_leaving_look(&w->leaving, &sums, w->mode, w->slice_us);
	}
}

static void set(struct world *w, uint32_t mode, uint32_t slice_us)
{
	w->mode = mode;
	w->slice_us = slice_us;
	for (uint64_t id = 1; id <= BES; id++) {
		gs_turns_slice(w->turns, id, slice_us, w->ns);
		gs_turns_mode(w->turns, id, mode, w->ns);
	}
}

static struct world begin(const struct kind_of_gpu *gpu, uint64_t block_us, bool measured)
{
	struct world w = { .gpu = *gpu, .ns = NS_PER_S, .rng = 5, .block_us = block_us };

	assert_int_equal(gs_turns_new(NULL, NULL, &w.turns), 0);
	if (measured)
		gs_turns_measured(w.turns, &gs_costs_h200);
	set(&w, GPUSCHED_PREEMPT_CILP, SLICE_US);
	return w;
}

static struct gs_evidence told(const struct world *w)
{
	struct gs_evidence e = { .kind = GS_PROGRAM_BATCH };
	struct gs_costs costs = gs_turns_costs(w->turns);

	gs_leaving_tell(&w->leaving, &e);
	e.switch_us = (uint32_t)((costs.switch_ns + costs.restore_ns) / 1000);
	return e;
}

static enum gs_means_name chosen(const struct gs_evidence *e)
{
	struct gs_means_case c = {
		.role = GS_ROLE_BE, .known = true, .seen = *e, .may_share = true
	};

	c.seen.lc_turn_us = 100; /* beside requests of one kernel */

	return gs_means_choice_make(&c).means;
}

/* A shared server is best for blocks of 20 and 100 us, slices for blocks of 1 ms. */
static void the_best_means_whatever_is_known(void **state)
{
	static const struct kind_of_gpu *const gpus[] = { &h200, &h100, &other };
	static const uint64_t blocks_us[] = { 20, 100, 1000 };

	for (unsigned int i = 0; i < 9; i++) {
		struct world w = begin(gpus[i / 3], blocks_us[i % 3], false);
		struct gs_evidence e;

		run(&w, 4);
		set(&w, GPUSCHED_PREEMPT_CTA, SLICE_US);
		run(&w, 4);
		e = told(&w);
		assert_int_not_equal(e.leave_cta_us, 0);
		assert_int_equal(chosen(&e), i % 3 < 2 ? GS_MEANS_SHARE : GS_MEANS_SLICES);
		/* the real difference of the two modes, within the error of a mean of 8 */
		assert_in_range(1000 + e.leave_cta_us - e.leave_cilp_us,
				1000 + w.gpu.save_cta + blocks_us[i % 3] / 4 - w.gpu.save_cilp - 5,
				1000 + w.gpu.save_cta + blocks_us[i % 3] - w.gpu.save_cilp + 5);
		gs_turns_free(w.turns);
	}
}

/* While only the nominal slice is known, one mode's times prove nothing: both modes are needed. */
static void half_is_not_told(void **state)
{
	struct world w = begin(&h100, 100, false);
	struct gs_evidence e;

	run(&w, 4);
	e = told(&w);
	assert_true(w.leaving.nominal);
	assert_int_not_equal(w.leaving.cilp_us, 0);
	assert_int_equal(e.leave_cilp_us, 0);
	gs_turns_free(w.turns);
}

/* Times of two modes with different slices must not be compared. */
static void slices_are_not_mixed(void **state)
{
	struct world w = begin(&h100, 100, false);
	struct gs_turn_sums sums = { .drain_ns = 150000, .drains = 100, .drain_nominal = true };
	struct gs_evidence e;

	for (unsigned int i = 0; i < 2; i++, sums.drains += 100)
		gs_leaving_look(&w.leaving, &sums, GPUSCHED_PREEMPT_CILP, 2048);
	assert_int_equal(w.leaving.cilp_us, 150);
	for (unsigned int i = 0; i < 2; i++, sums.drains += 100)
		gs_leaving_look(&w.leaving, &sums, GPUSCHED_PREEMPT_CTA, 4096);
	e = told(&w);
	assert_int_equal(e.leave_cilp_us, 0);
	assert_int_equal(e.leave_cta_us, 0);
	gs_turns_free(w.turns);
}

/* With known costs, each mode's time is the real one. */
static void real_times_where_costs_are_known(void **state)
{
	struct world w = begin(&h200, 20, true);
	struct gs_evidence e;

	run(&w, 3);
	e = told(&w);
	assert_in_range(e.leave_cilp_us, 98, 106);
	assert_int_equal(e.leave_cta_us, 0);
	set(&w, GPUSCHED_PREEMPT_CTA, SLICE_US);
	run(&w, 3);
	e = told(&w);
	assert_in_range(e.leave_cilp_us, 98, 106);
	assert_in_range(e.leave_cta_us, 58, 85);
	assert_int_equal(chosen(&e), GS_MEANS_SHARE);
	gs_turns_free(w.turns);
}

/* When the slice changes, the account learns the costs, and real times replace nominal ones. */
static void costs_are_learned_later(void **state)
{
	struct world w = begin(&other, 20, false);

	run(&w, 3);
	assert_true(w.leaving.nominal);
	set(&w, GPUSCHED_PREEMPT_CILP, 1024);
	run(&w, 3);
	assert_false(w.leaving.nominal);
	assert_in_range(told(&w).leave_cilp_us, 140, 180);
	gs_turns_free(w.turns);
}

/*
 * Adds turns of one BE with a trial's slice, and of a service whose short requests come at random.
 */
static void trial(struct world *w, unsigned int requests)
{
	for (unsigned int i = 0; i < requests; i++) {
		uint64_t slice = w->slice_us * w->gpu.unit_ps / 1000;
		uint64_t came = gs_rng_range(&w->rng, 0, 8 * slice);

		gs_turns_feed(w->turns, &(struct gs_switch){ w->ns, true, false }, 1);
		w->ns += came / slice * slice + turn_ns(w);
		gs_turns_feed(w->turns, &(struct gs_switch){ w->ns, false, false }, 1);
		w->ns += w->gpu.switches * NS_PER_US;
		gs_turns_feed(w->turns, &(struct gs_switch){ w->ns, true, false }, 3);
		w->ns += 164 * NS_PER_US;
		gs_turns_feed(w->turns, &(struct gs_switch){ w->ns, false, false }, 3);
		w->ns += w->gpu.switches * NS_PER_US;
	}
}

/* Turns of several slices count, too; the cut end of the last slice does not look like a block. */
static void beside_a_service_blocks_show(void **state)
{
	static const uint64_t blocks_us[] = { 1, 20, 100, 1000 };

	for (unsigned int i = 0; i < 4; i++) {
		struct world w = begin(&h200, blocks_us[i], true);
		uint64_t mean = w.gpu.save_cta + blocks_us[i] / 2;
		struct gs_turn_sums sums;

		set(&w, GPUSCHED_PREEMPT_CTA, 1000);
		gs_turns_slice(w.turns, 3, 200000, w.ns);
		trial(&w, 100);
		assert_int_equal(gs_turns_of(w.turns, 1, &sums), 0);
		assert_in_range(sums.drains, 30, 70); /* came within four slices of eight */
		assert_false(sums.drain_nominal);
		assert_in_range(sums.drain_ns / NS_PER_US, mean * 6 / 10, mean * 15 / 10);
		gs_turns_free(w.turns);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_best_means_whatever_is_known),
		cmocka_unit_test(half_is_not_told),
		cmocka_unit_test(slices_are_not_mixed),
		cmocka_unit_test(real_times_where_costs_are_known),
		cmocka_unit_test(costs_are_learned_later),
		cmocka_unit_test(beside_a_service_blocks_show),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
