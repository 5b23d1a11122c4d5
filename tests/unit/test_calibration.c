/* SPDX-License-Identifier: MIT */
/*
 * test_calibration.c - check the costs of switches that are learned from the lengths of turns
 *
 * The question is which lengths show where a slice ends, and which could come from a program.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "account/calibration.h"
#include "basic/clock.h"

#define US NS_PER_US
#define A 1
#define B 2
#define SLICE 2048

static const struct gs_costs unknown;

static struct gs_calibration *begin(const struct gs_costs *measured)
{
	struct gs_calibration *c = NULL;

	assert_int_equal(gs_calibration_new(&c), 0);
	gs_calibration_begin(c, measured);
	return c;
}

static void turns(struct gs_calibration *c, uint64_t id, uint64_t us, uint64_t length, int n)
{
	for (int i = 0; i < n; i++) /* lengths spread by 16 us, as on an H200 */
		gs_calibration_turn(c, id, us, length + (uint64_t)(i % 5) * 4 * US);
}

static uint64_t after(uint64_t us, unsigned int slices, uint64_t unit_ps, uint64_t save_us)
{
	return slices * us * unit_ps / 1000 + save_us * US;
}

static void is_cut(const struct gs_calibration *c, uint64_t us, uint64_t length)
{
	struct gs_cut cut = gs_calibration_cut(c, us);

	assert_true(cut.known);
	assert_in_range(length, cut.first_low, cut.first_high);
}

static void nothing_is_known_at_first(void **state)
{
	struct gs_calibration *c = begin(&unknown);

	assert_int_equal(gs_calibration_costs(c)->save_basis, GS_COST_UNKNOWN);
	assert_false(gs_calibration_cut(c, SLICE).known);
	assert_true(gs_calibration_cut(c, SLICE).shows);
	assert_false(gs_calibration_cut(c, 1).shows);
	assert_in_range(gs_calibration_cut(c, SLICE).shortest, 1, SLICE * US);
	gs_calibration_free(c);
}

static void a_product_begins_with_what_was_measured(void **state)
{
	struct gs_costs h200 = gs_costs_measured("NVIDIA H200", 580);
	struct gs_costs other = gs_costs_measured("NVIDIA H200", 999);
	struct gs_calibration *c = begin(&h200);

	assert_int_equal(h200.save_basis, GS_COST_MEASURED);
	assert_int_equal(other.save_basis, GS_COST_UNKNOWN);
	is_cut(c, SLICE, after(SLICE, 1, 1024000, 100));
	gs_calibration_free(c);
}

/* A single slice gives only the sum of unit and save time; the two stay unknown. */
static void two_tsgs_confirm_a_slice(void **state)
{
	struct gs_calibration *c = begin(&unknown);

	turns(c, A, SLICE, after(SLICE, 1, 1024000, 279), 40);
	turns(c, B, SLICE, after(SLICE, 1, 1024000, 279), 40);
	is_cut(c, SLICE, after(SLICE, 1, 1024000, 285));
	assert_false(gs_calibration_cut(c, SLICE).periodic);
	assert_false(gs_calibration_cut(c, 1000).known);
	assert_int_equal(gs_calibration_costs(c)->save_ns, 0);
	gs_calibration_free(c);
}

/*
 * Turns shorter than their slice may come from two similar services, or from a GPU whose unit is
 * below 1. Only a change of the slices shows which.
 */
static void two_tsgs_do_not_confirm_less_than_a_slice(void **state)
{
	struct gs_calibration *c = begin(&unknown);

	turns(c, A, SLICE, after(SLICE, 1, 950000, 84), 40);
	turns(c, B, SLICE, after(SLICE, 1, 950000, 84), 40);
	assert_false(gs_calibration_cut(c, SLICE).known);
	turns(c, A, 4000, after(4000, 1, 950000, 84), 40);
	is_cut(c, SLICE, after(SLICE, 1, 950000, 88));
	gs_calibration_free(c);
}

/*
 * A unit far below 1 is unknown with one slice, and known once two TSGs' turns follow a new slice.
 */
static void a_short_unit_shows_when_slices_change(void **state)
{
	struct gs_calibration *c = begin(&unknown);

	turns(c, A, SLICE, after(SLICE, 1, 800000, 93), 40);
	turns(c, B, SLICE, after(SLICE, 1, 800000, 93), 40);
	assert_false(gs_calibration_cut(c, SLICE).known);
	assert_in_range(gs_calibration_cut(c, SLICE).shortest, 1, after(SLICE, 1, 800000, 93));
	assert_non_null(strstr(gs_calibration_save_unknown(c), "shorter than their slice"));
	turns(c, A, 1000, after(1000, 1, 800000, 93), 40);
	assert_int_equal(gs_calibration_costs(c)->unit_ps,
			 0); /* only one TSG followed: this may be a cut request */
	turns(c, B, 1000, after(1000, 1, 800000, 93), 20);
	turns(c, A, 1000, after(1000, 1, 800000, 93), 20);
	assert_in_range(gs_calibration_costs(c)->unit_ps, 795000, 805000);
	assert_null(gs_calibration_save_unknown(c));
	is_cut(c, SLICE, after(SLICE, 1, 800000, 97));
	gs_calibration_free(c);
}

static void a_short_unit_shows_at_three_numbers_of_slices(void **state)
{
	struct gs_calibration *c = begin(&unknown);

	for (int i = 0; i < 30; i++)
		for (unsigned int k = 1; k <= 3; k++)
			turns(c, A, SLICE, after(SLICE, k, 800000, 93), 1);
	assert_in_range(gs_calibration_costs(c)->unit_ps, 799000, 801000);
	is_cut(c, 777, after(777, 1, 800000, 97));
	gs_calibration_free(c);
}

/* Requests of 3.8 ms fit into the longer slice, so these turns end with a request, not a slice. */
static void a_service_that_fits_into_the_longer_slice_does_not(void **state)
{
	struct gs_calibration *c = begin(&unknown);

	turns(c, A, SLICE, after(SLICE, 1, 1024000, 95), 100);
	turns(c, A, 4000, 3860 * US, 100);
	assert_int_equal(gs_calibration_costs(c)->unit_ps, 0);
	gs_calibration_free(c);
}

static void one_tsg_alone_confirms_nothing(void **state)
{
	struct gs_calibration *c = begin(&unknown);

	turns(c, A, SLICE, after(SLICE, 1, 1024000, 279), 300);
	assert_false(gs_calibration_cut(c, SLICE).known);
	gs_calibration_free(c);
}

static void two_numbers_of_slices_tell_unit_and_save(void **state)
{
	struct gs_calibration *c = begin(&unknown);

	for (int i = 0; i < 20; i++)
		for (unsigned int k = 1; k <= 3; k++)
			turns(c, A, SLICE, after(SLICE, k, 1280000, 158), 1);
	assert_in_range(gs_calibration_costs(c)->unit_ps, 1279000, 1281000);
	assert_in_range(gs_calibration_costs(c)->save_ns, 150 * US, 166 * US);
	assert_int_equal(gs_calibration_costs(c)->save_basis, GS_COST_CALIBRATED);
	is_cut(c, 777, after(777, 1, 1280000, 158));
	gs_calibration_free(c);
}

static void a_cluster_that_moves_with_the_slice_counts(void **state)
{
	struct gs_calibration *c = begin(&unknown);

	turns(c, A, 1000, after(1000, 1, 1024000, 18), 40);
	turns(c, A, SLICE, after(SLICE, 1, 1024000, 18), 40);
	assert_in_range(gs_calibration_costs(c)->save_ns, 10 * US, 40 * US);
	is_cut(c, 4000, after(4000, 1, 1024000, 26));
	gs_calibration_free(c);
}

/* A program's turns have the same length with any slice, so no slice ends them. */
static void a_service_of_constant_length_does_not(void **state)
{
	struct gs_calibration *c = begin(&unknown);

	turns(c, A, 1000, 2150 * US, 100);
	turns(c, A, SLICE, 2150 * US, 100);
	assert_false(gs_calibration_cut(c, SLICE).known);
	assert_false(gs_calibration_cut(c, 1000).known);
	gs_calibration_free(c);
}

/* Requests of one and of two kernels, each a bit longer than half of a slice. */
static void a_service_of_two_lengths_does_not(void **state)
{
	struct gs_calibration *c = begin(&unknown);

	for (int i = 0; i < 100; i++) {
		turns(c, A, 1000, 1500 * US, 1);
		turns(c, A, 1000, 3000 * US, 1);
	}
	assert_false(gs_calibration_cut(c, 1000).known);
	gs_calibration_free(c);
}

static void beside_a_service_most_of_one_program_is_enough(void **state)
{
	struct gs_calibration *c = begin(&unknown);

	for (int i = 0; i < 30; i++)
		for (unsigned int k = 1; k <= 3; k++) {
			turns(c, A, SLICE, after(SLICE, k, 1024000, 186), 1);
			turns(c, B, SLICE, 1900 * US, 1);
		}
	is_cut(c, SLICE, after(SLICE, 1, 1024000, 186));
	gs_calibration_free(c);
}

static void the_log_contradicts_what_was_measured(void **state)
{
	struct gs_calibration *c = begin(&gs_costs_h200);

	turns(c, A, SLICE, after(SLICE, 1, 1024000, 279), 130);
	/* only one TSG has this length, so nothing is known for this slice */
	assert_false(gs_calibration_cut(c, SLICE).known);
	assert_true(gs_calibration_cut(c, 1000).known);
	turns(c, B, SLICE, after(SLICE, 1, 1024000, 279), 64);
	is_cut(c, SLICE, after(SLICE, 1, 1024000, 279));
	assert_int_equal(gs_calibration_costs(c)->save_basis, GS_COST_UNKNOWN);
	assert_int_equal(gs_calibration_costs(c)->restore_ns, 0);
	gs_calibration_free(c);
}

/* The log's figures outweigh stored costs, also after a doubt about the log. */
static void the_log_contradicts_what_was_kept(void **state)
{
	struct gs_costs kept = gs_costs_h200;
	struct gs_calibration *c;

	kept.save_basis = kept.switch_basis = GS_COST_KEPT;
	kept.restore_basis = GS_COST_QUALIFIED;
	c = begin(&kept);
	is_cut(c, SLICE, after(SLICE, 1, 1024000, 100));
	turns(c, A, SLICE, after(SLICE, 1, 1024000, 279), 130);
	turns(c, B, SLICE, after(SLICE, 1, 1024000, 279), 64);
	assert_int_equal(gs_calibration_contradicted(c), 1);
	assert_int_equal(gs_calibration_costs(c)->save_basis, GS_COST_UNKNOWN);
	assert_int_equal(gs_calibration_costs(c)->restore_basis, GS_COST_UNKNOWN);
	/* gaps that are near neither the stored costs nor each other */
	for (int i = 0; i < 64; i++)
		gs_calibration_gap(c, (200 + (uint64_t)i * 10) * US);
	assert_int_equal(gs_calibration_contradicted(c), 2);
	assert_int_equal(gs_calibration_costs(c)->switch_ns, 0);
	gs_calibration_doubt(c);
	assert_int_equal(gs_calibration_costs(c)->save_basis, GS_COST_UNKNOWN);
	assert_int_equal(gs_calibration_costs(c)->switch_basis, GS_COST_UNKNOWN);
	gs_calibration_free(c);
}

/* If the log agrees, stored costs count as measured, and those that no log shows stay in use. */
static void the_log_confirms_what_was_kept(void **state)
{
	struct gs_costs kept = gs_costs_h200;
	struct gs_calibration *c;

	kept.save_basis = GS_COST_KEPT;
	kept.save_at_s = 5;
	kept.restore_basis = GS_COST_QUALIFIED;
	c = begin(&kept);
	for (int i = 0; i < 60; i++)
		for (unsigned int k = 1; k <= 3; k++)
			turns(c, A, SLICE, after(SLICE, k, 1024000, 105), 1);
	assert_int_equal(gs_calibration_costs(c)->save_basis, GS_COST_CALIBRATED);
	assert_int_equal(gs_calibration_costs(c)->save_at_s, 0);
	assert_int_equal(gs_calibration_costs(c)->restore_ns, gs_costs_h200.restore_ns);
	assert_int_equal(gs_calibration_contradicted(c), 0);
	gs_calibration_free(c);
}

static void it_follows_clocks_that_change(void **state)
{
	struct gs_calibration *c = begin(&unknown);

	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < 100; i++)
			for (unsigned int k = 1; k <= 3; k++)
				turns(c, A, SLICE, after(SLICE, k, 1024000, round ? 150 : 90), 1);
		is_cut(c, 1000, after(1000, 1, 1024000, round ? 150 : 90));
	}
	assert_in_range(gs_calibration_costs(c)->save_ns, 140 * US, 160 * US);
	gs_calibration_free(c);
}

/*
 * After a change of clocks, at most six turns use the old costs; these are then unknown for a
 * while.
 */
static void clocks_that_change_show_at_once(void **state)
{
	struct gs_calibration *c = begin(&unknown);
	int wrong = 0, lost = 0;

	for (int i = 0; i < 200; i++)
		for (unsigned int k = 1; k <= 2; k++)
			turns(c, A, SLICE, after(SLICE, k, 1024000, 93), 1);
	is_cut(c, SLICE, after(SLICE, 1, 1024000, 95));
	for (int i = 0; i < 100; i++) {
		uint64_t length = after(SLICE, 1 + (unsigned int)i % 2, 1024000, 149);
		struct gs_cut cut = gs_calibration_cut(c, SLICE);

		lost += !cut.known;
		wrong += cut.known && cut.first_high < after(SLICE, 1, 1024000, 149);
		gs_calibration_turn(c, A, SLICE, length);
	}
	assert_in_range(wrong, 1, 6);
	assert_in_range(lost, 1, 24);
	assert_in_range(gs_calibration_costs(c)->save_ns, 145 * US, 153 * US);
	gs_calibration_free(c);
}

static void a_log_that_lies_is_forgotten(void **state)
{
	struct gs_calibration *c = begin(&unknown);

	turns(c, A, SLICE, after(SLICE, 1, 1024000, 279), 40);
	turns(c, B, SLICE, after(SLICE, 1, 1024000, 279), 40);
	gs_calibration_doubt(c);
	assert_false(gs_calibration_cut(c, SLICE).known);
	gs_calibration_free(c);
}

static void absurd_lengths_are_harmless(void **state)
{
	struct gs_calibration *c = begin(&gs_costs_h200);

	for (uint64_t i = 0; i < 10000; i++) {
		uint64_t us = i % 3 ? UINT64_MAX >> i % 64 : i % 50;

		gs_calibration_turn(c, i % 7, us, UINT64_MAX - i);
		gs_calibration_turn(c, i % 7, us, i);
		gs_calibration_gap(c, UINT64_MAX - i);
		gs_calibration_cut(c, us);
	}
	gs_calibration_free(c);
}

static void gaps_tell_the_switch(void **state)
{
	struct gs_calibration *c = begin(&unknown);

	for (int i = 0; i < 64; i++)
		gs_calibration_gap(c, i % 4 ? 250 * US : (uint64_t)i * 10 * US);
	assert_int_equal(gs_calibration_costs(c)->switch_ns, 250 * US);
	assert_int_equal(gs_calibration_costs(c)->switch_basis, GS_COST_CALIBRATED);
	gs_calibration_free(c);
	c = begin(&unknown);
	for (int i = 0; i < 64; i++)
		gs_calibration_gap(c, (uint64_t)i * 10 * US);
	assert_int_equal(gs_calibration_costs(c)->switch_ns, 0);
	gs_calibration_free(c);
}

#define T(name) cmocka_unit_test(name)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(nothing_is_known_at_first),
		T(a_product_begins_with_what_was_measured),
		T(two_tsgs_confirm_a_slice),
		T(two_tsgs_do_not_confirm_less_than_a_slice),
		T(a_short_unit_shows_when_slices_change),
		T(a_short_unit_shows_at_three_numbers_of_slices),
		T(a_service_that_fits_into_the_longer_slice_does_not),
		T(one_tsg_alone_confirms_nothing),
		T(two_numbers_of_slices_tell_unit_and_save),
		T(a_cluster_that_moves_with_the_slice_counts),
		T(a_service_of_constant_length_does_not),
		T(a_service_of_two_lengths_does_not),
		T(beside_a_service_most_of_one_program_is_enough),
		T(the_log_contradicts_what_was_measured),
		T(the_log_contradicts_what_was_kept),
		T(the_log_confirms_what_was_kept),
		T(it_follows_clocks_that_change),
		T(clocks_that_change_show_at_once),
		T(a_log_that_lies_is_forgotten),
		T(absurd_lengths_are_harmless),
		T(gaps_tell_the_switch),
	};

	return cmocka_run_group_tests_name("calibration", tests, NULL, NULL);
}
