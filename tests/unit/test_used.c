/* SPDX-License-Identifier: MIT */
/* test_used.c - check how much of the held time counts as used */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "account/turns.h"
#include "basic/clock.h"
#include "gpusched/abi.h"

#define US NS_PER_US
#define MS NS_PER_MS
#define A 1
#define B 2
#define SLICE 2048
#define SLICE_NS (2048 * 1024ull)
#define SAVE (100 * US)

static struct gs_turns *begin(void)
{
	struct gs_turns *t = NULL;

	assert_int_equal(gs_turns_new(NULL, NULL, &t), 0);
	gs_turns_measured(t, &gs_costs_h200);
	return t;
}

static void feed(struct gs_turns *t, uint64_t id, uint64_t ns, bool start)
{
	struct gs_switch sw = { .ns = ns, .start = start };

	assert_int_equal(gs_turns_feed(t, &sw, id), 0);
}

static void start(struct gs_turns *t, uint64_t id, uint64_t ns, unsigned int slice)
{
	if (id)
		assert_int_equal(gs_turns_slice(t, id, slice, 0), 0);
	feed(t, id, ns, true);
}

static void end(struct gs_turns *t, uint64_t id, uint64_t ns, unsigned int slice)
{
	if (id)
		assert_int_equal(gs_turns_slice(t, id, slice, 0), 0);
	feed(t, id, ns, false);
}

static struct gs_turn_sums of(struct gs_turns *t, uint64_t id)
{
	struct gs_turn_sums s;

	assert_int_equal(gs_turns_of(t, id, &s), 0);
	return s;
}

static void adds_up(struct gs_turns *t)
{
	struct gs_runlist_sums r;

	gs_turns_runlist(t, &r);
	assert_true(r.held_ns + r.lost_ns + r.open_ns + r.unknown_ns == r.as_of_ns - r.since_ns);
}

/* Saves and restores around a slice's end do not count as use. */
static void used(void **state)
{
	struct gs_turns *t = begin();
	struct gs_turn_sums s = { 0 };
	uint64_t at = 10 * MS, held = 0;

	for (int i = 0; i < 10; i++) {
		start(t, A, at, SLICE);
		end(t, A, at + SLICE_NS + SAVE, SLICE);
		start(t, B, at + SLICE_NS + 2 * SAVE, SLICE);
		end(t, B, at + SLICE_NS + 3 * SAVE, SLICE);
		at += SLICE_NS + 4 * SAVE;
		held += SLICE_NS + SAVE;
	}
	assert_int_equal(of(t, A).switching_ns, 10 * (SAVE + 24 * US));
	assert_int_equal(of(t, A).unpriced, 0);
	s = of(t, A);
	assert_int_equal(gs_turn_used(&s), held - 10 * (SAVE + 24 * US));
	s = of(t, B); /* it drains */
	assert_int_equal(s.turns, 10);
	assert_int_equal(gs_turn_used(&s), s.held_ns);
	gs_turns_alone(t, B, 10 * MS, 2 * MS);
	s = of(t, B);
	s.held_ns += 20 * MS;
	assert_int_equal(gs_turn_used(&s), 10 * SAVE + 12 * MS);
	gs_turns_free(t);
}

/* A TSG is freed while it is loaded, so its END never comes. That is not a lost record. */
static void freed_while_loaded(void **state)
{
	struct gs_turns *t = begin();
	struct gs_switch lost = { .ns = 60 * MS, .start = true, .gap = true };
	struct gs_runlist_sums r;

	start(t, A, 10 * MS, SLICE);
	start(t, B, 20 * MS, SLICE);
	gs_turns_until(t, 30 * MS);
	assert_int_equal(of(t, A).held_ns, 10 * MS - 84 * US);
	assert_false(of(t, A).loaded);
	assert_int_equal(of(t, B).held_ns, 10 * MS);
	gs_turns_runlist(t, &r);
	assert_int_equal(r.gaps, 0);
	assert_int_equal(r.unknown_ns, 0);
	assert_int_equal(gs_turns_feed(t, &lost, A), 0);
	gs_turns_runlist(t, &r);
	assert_int_equal(r.gaps, 1);
	assert_int_equal(r.unknown_ns, 30 * MS);
	adds_up(t);
	gs_turns_free(t);
}

/* Without known costs, and in modes whose costs were not measured, only an upper bound is known. */
static void used_at_most(void **state)
{
	struct gs_turns *t = NULL;

	for (int i = 0; i < 2; i++) {
		assert_int_equal(gs_turns_new(NULL, NULL, &t), 0);
		if (i)
			gs_turns_measured(t, &gs_costs_h200);
		assert_int_equal(
			gs_turns_mode(t, A, i ? GPUSCHED_PREEMPT_CTA : GPUSCHED_PREEMPT_CILP, 0),
			0);
		start(t, A, MS, SLICE);
		end(t, A, MS + SLICE_NS + SAVE, SLICE);
		start(t, B, MS + SLICE_NS + 2 * SAVE, SLICE);
		end(t, B, MS + SLICE_NS + 3 * SAVE, SLICE);
		start(t, A, MS + SLICE_NS + 4 * SAVE, SLICE);
		assert_int_equal(of(t, A).switching_ns, 0);
		assert_int_equal(of(t, A).unpriced, 1);
		gs_turns_free(t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(used),
		cmocka_unit_test(used_at_most),
		cmocka_unit_test(freed_while_loaded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
