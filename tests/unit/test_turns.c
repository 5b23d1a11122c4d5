/* SPDX-License-Identifier: MIT */
/* test_turns.c - check the turns made from log records: written by hand, random, of a real GPU */
#include <errno.h>
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
#define C 3
#define D 4
#define SLICE 2048
#define SLICE_NS (2048 * 1024ull)
#define SAVE (100 * US)

static struct gs_turn told[64];
static size_t ntold;

static void tell(const struct gs_turn *turn, void *user)
{
	told[ntold++ % 64] = *turn;
}

static struct gs_turns *begin(void)
{
	struct gs_turns *t = NULL;

	ntold = 0;
	assert_int_equal(gs_turns_new(tell, NULL, &t), 0);
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

/* A's slice ends, and B drains: A waits while B runs, so B's turn is contended. */
static void cut_and_drained(void **state)
{
	struct gs_turns *t = begin();
	struct gs_turn_sums sums;
	uint64_t at = 10 * MS;
	struct gs_runlist_sums r;

	start(t, A, at, SLICE);
	end(t, A, at + SLICE_NS + SAVE, SLICE);
	at += SLICE_NS + SAVE + 80 * US;
	start(t, B, at, SLICE);
	end(t, B, at + 163 * US, SLICE);
	start(t, A, at + 243 * US, SLICE);
	gs_turns_until(t, at + 300 * US);
	assert_int_equal(ntold, 2);
	assert_int_equal(told[0].end, GS_TURN_SLICE);
	/* B's work came during A's slice, at an unknown time */
	assert_int_equal(told[0].contended_ns, SLICE_NS / 2 + SAVE);
	assert_int_equal(of(t, A).contended_off_ns, SLICE_NS / 2);
	assert_int_equal(told[1].end, GS_TURN_DRAINED);
	assert_int_equal(told[1].contended_ns, 163 * US);
	assert_int_equal(of(t, A).held_ns, SLICE_NS + SAVE + 57 * US);
	assert_int_equal(of(t, A).waits, 1);
	assert_int_equal(of(t, A).wait_ns, 323 * US);
	sums = of(t, A);
	assert_in_range(gs_turns_percentile(&sums, 99), 323 * US, 646 * US);
	sums = of(t, B);
	assert_int_equal(gs_turns_percentile(&sums, 99), 0);
	assert_true(of(t, A).loaded);
	assert_false(of(t, A).waiting);
	assert_int_equal(of(t, B).waits, 0);
	gs_turns_runlist(t, &r);
	assert_int_equal(r.lost_ns, 160 * US);
	assert_int_equal(r.switches, 3);
	adds_up(t);
	gs_turns_free(t);
}

/* In a turn of many slices, only the last is known to be contended, from an unknown time on. */
static void contended_in_the_last_slice(void **state)
{
	struct gs_turns *t = begin();

	start(t, A, MS, SLICE);
	end(t, A, MS + 5 * SLICE_NS + SAVE, SLICE);
	assert_int_equal(ntold, 0);
	start(t, B, MS + 5 * SLICE_NS + 2 * SAVE, SLICE);
	end(t, B, MS + 5 * SLICE_NS + 4 * SAVE, SLICE);
	start(t, A, MS + 5 * SLICE_NS + 5 * SAVE, SLICE);
	assert_int_equal(told[1].id, A);
	assert_int_equal(told[1].end, GS_TURN_SLICE);
	assert_int_equal(told[1].contended_ns, SLICE_NS / 2 + SAVE);
	gs_turns_free(t);
}

/*
 * A's turn of many slices drains, by chance at the end of a slice. A is not waiting, as B's long
 * turn then shows.
 */
static void nobody_waits_beside_a_long_turn(void **state)
{
	struct gs_turns *t = begin();
	uint64_t at = MS + 100 * SLICE_NS + SAVE;

	start(t, A, MS, SLICE);
	end(t, A, at, SLICE);
	start(t, B, at + SAVE, SLICE);
	gs_turns_until(t, at + 4 * MS);
	assert_int_equal(ntold, 0);
	gs_turns_until(t, at + 10 * MS);
	assert_int_equal(told[0].end, GS_TURN_DRAINED);
	assert_int_equal(of(t, A).contended_ns, 0);
	assert_false(of(t, A).waiting);
	end(t, B, at + 20 * MS, SLICE);
	/* a turn of two slices counts as cut off, until B goes on */
	start(t, A, at + 21 * MS, SLICE);
	end(t, A, at + 21 * MS + 2 * SLICE_NS + SAVE, SLICE);
	assert_true(of(t, A).waiting);
	start(t, B, at + 26 * MS, SLICE);
	assert_true(of(t, B).contended);
	gs_turns_until(t, at + 36 * MS);
	assert_false(of(t, A).waiting);
	assert_false(of(t, B).contended);
	assert_int_equal(of(t, A).waits, 0);
	gs_turns_free(t);
}

/* A suspended TSG does not wait for the GPU, so it makes no other turn contended. */
static void suspended_waits_not(void **state)
{
	struct gs_turns *t = begin();
	uint64_t at = MS + SLICE_NS + SAVE;

	start(t, A, MS, SLICE);
	end(t, A, at, SLICE);
	start(t, B, at + SAVE, SLICE);
	gs_turns_until(t, at + 500 * US);
	assert_true(of(t, B).contended);
	assert_int_equal(of(t, B).last_work_ns, at + 500 * US);
	gs_turns_suspend(t, A, true, 0);
	gs_turns_until(t, at + 900 * US);
	assert_false(of(t, A).waiting);
	assert_false(of(t, B).contended);
	assert_int_equal(of(t, B).contended_ns, 500 * US - SAVE);
	end(t, B, at + MS, SLICE);
	assert_int_equal(of(t, B).contended_ns, 500 * US - SAVE);
	/* the reason for its last turn's end becomes known while it is suspended */
	start(t, A, at + 2 * MS, SLICE);
	end(t, A, at + 2 * MS + SLICE_NS + SAVE, SLICE);
	assert_false(of(t, A).waiting);
	gs_turns_suspend(t, A, false, 0);
	start(t, A, at + 5 * MS, SLICE);
	end(t, A, at + 5 * MS + SLICE_NS + SAVE, SLICE);
	assert_true(of(t, A).waiting);
	gs_turns_free(t);
}

/*
 * A is suspended before its return shows whether it waited. So it stays unknown whether others'
 * turns since then were contended.
 */
static void suspended_before_it_is_back(void **state)
{
	struct gs_turns *t = begin();
	uint64_t at = MS;

	start(t, D, at, 20);
	end(t, D, at + 400 * US, 20);
	start(t, A, at + 500 * US, 20);
	end(t, A, at + 1000 * US, 20);
	start(t, B, at + 1080 * US, 1000000);
	end(t, B, at + 1240 * US, 1000000);
	start(t, C, at + 1300 * US, 1000000);
	gs_turns_until(t, at + 1400 * US);
	assert_int_equal(gs_turns_suspend(t, A, true, 0), 0);
	assert_int_equal(of(t, B).contended_off_ns, 160 * US);
	assert_int_equal(of(t, C).contended_off_ns, 100 * US);
	assert_int_equal(gs_turns_suspend(t, A, false, 0), 0);
	assert_int_equal(gs_turns_suspend(t, A, true, 0), 0); /* it is suspended already */
	end(t, C, at + 1500 * US, 1000000);
	assert_int_equal(of(t, C).contended_off_ns, 100 * US);
	assert_int_equal(of(t, B).contended_ns + of(t, C).contended_ns, 0);
	/* D turns out to have waited, so these turns were contended */
	start(t, D, at + 1580 * US, 20);
	assert_int_equal(of(t, B).contended_ns, 160 * US);
	assert_int_equal(of(t, C).contended_ns, 200 * US);
	assert_int_equal(of(t, B).contended_off_ns + of(t, C).contended_off_ns, 0);
	gs_turns_free(t);
}

/* Records come late. Each is judged by the settings at its time, not by the present ones. */
static void settings_have_their_time(void **state)
{
	struct gs_turns *t = begin();
	uint64_t at = MS;

	assert_int_equal(gs_turns_slice(t, A, SLICE, 0), 0);
	assert_int_equal(gs_turns_slice(t, B, 1000000, 0), 0);
	assert_int_equal(gs_turns_slice(t, A, 20, at + 9 * MS), 0);
	assert_int_equal(gs_turns_suspend(t, A, true, at + 10 * MS), 0);
	assert_int_equal(gs_turns_suspend(t, A, false, at + 40 * MS), 0);
	feed(t, A, at, true);
	feed(t, A, at + SLICE_NS + SAVE, false);
	/* at the time of that END, A's slice was over, and A was not suspended yet */
	assert_true(of(t, A).waiting);
	feed(t, B, at + SLICE_NS + 2 * SAVE, true);
	feed(t, B, at + 6 * MS, false);
	feed(t, A, at + 6 * MS + SAVE, true);
	assert_int_equal(of(t, A).waits, 1);
	feed(t, A, at + 6 * MS + SLICE_NS + 2 * SAVE, false);
	feed(t, B, at + 6 * MS + SLICE_NS + 3 * SAVE, true);
	gs_turns_until(t, at + 30 * MS);
	assert_false(of(t, A).waiting);
	assert_int_equal(of(t, B).contended_ns - (6 * MS - SLICE_NS - 2 * SAVE),
			 10 * MS - (6 * MS + SLICE_NS + 3 * SAVE));
	feed(t, B, at + 41 * MS, false);
	feed(t, A, at + 41 * MS + SAVE, true);
	assert_int_equal(of(t, A).waits, 1);
	/* the slice is 20 us now, so it may have ended the turn */
	feed(t, A, at + 41 * MS + 3 * SAVE, false);
	assert_int_equal(of(t, A).ended[GS_TURN_SLICE], 2);
	assert_int_equal(of(t, A).ended[GS_TURN_DRAINED], 0);
	gs_turns_forget(t, A);
	assert_int_equal(gs_turns_slice(t, B, SLICE, at + 50 * MS), 0);
	gs_turns_forget(t, B); /* a change of B was still to come */
	gs_turns_until(t, at + 60 * MS);
	adds_up(t);
	gs_turns_free(t);
}

/* A short slice's end shows only when the TSG returns: then all of B's turn counts as contended. */
static void contended_after_all(void **state)
{
	struct gs_turns *t = begin();
	uint64_t at = MS;

	for (int i = 0; i < 10; i++, at += MS) {
		start(t, A, at, 20);
		end(t, A, at + 500 * US, 20);
		start(t, B, at + 580 * US, 1000000);
		end(t, B, at + 740 * US, 1000000);
		assert_int_equal(of(t, B).contended_ns, i * 160 * US);
	}
	assert_int_equal(of(t, B).contended_off_ns, 0);
	assert_in_range(of(t, A).contended_ns, 9 * 90 * US, 9 * 120 * US);
	gs_turns_free(t);
}

/*
 * A rests. B, which has a long slice, stays loaded after it has drained, so A's return after B's
 * turn does not show that A waited. If B's turn is short enough to be work, A did wait.
 */
static void rests_beside_a_loaded_one(void **state)
{
	struct gs_turns *t = begin();
	uint64_t at = MS;

	for (int i = 0; i < 20; i++, at += i % 10 ? MS : 30 * MS) {
		start(t, A, at, 1);
		end(t, A, at + 500 * US, 1);
		start(t, B, at + 580 * US, 200000);
		end(t, B, at + 740 * US + (i % 10 == 9 ? 29 * MS : i % 10 * 20 * US), 200000);
	}
	start(t, A, at, 1);
	assert_int_equal(of(t, A).ended[GS_TURN_SLICE], 18);
	assert_int_equal(of(t, A).ended[GS_TURN_UNSURE], 2);
	assert_int_equal(of(t, A).waits, 18);
	assert_in_range(of(t, A).wait_ns, 18 * 500 * US, 19 * 500 * US);
	assert_in_range(of(t, B).contended_ns, 18 * 160 * US, 18 * 320 * US);
	assert_int_equal(told[1].waited_ns, 0);
	assert_int_equal(told[3].id, A);
	assert_int_equal(told[3].waited_ns, 500 * US);
	gs_turns_free(t);
}

/*
 * In CTA mode a TSG leaves sooner than in CILP mode. Its turn's length then does not prove that its
 * slice ended; its return decides.
 */
static void leaves_soon(void **state)
{
	struct gs_turns *t = begin();
	uint64_t at = MS;

	assert_int_equal(gs_turns_mode(t, A, GPUSCHED_PREEMPT_CTA, 0), 0);
	for (int i = 0; i < 10; i++, at += SLICE_NS + 400 * US) {
		start(t, A, at, SLICE);
		end(t, A, at + SLICE_NS + 58 * US, SLICE);
		assert_false(of(t, A).waiting);
		start(t, B, at + SLICE_NS + 100 * US, SLICE);
		end(t, B, at + SLICE_NS + 300 * US, SLICE);
	}
	assert_int_equal(of(t, A).ended[GS_TURN_SLICE], 9);
	assert_int_equal(of(t, A).waits, 9);
	assert_int_equal(of(t, A).drain_ns, 58 * US);
	gs_turns_free(t);
}

static struct gs_turn_sums cut_off_once(uint32_t mode, unsigned int slice, uint64_t length)
{
	struct gs_turns *t = begin();
	struct gs_turn_sums sums;

	assert_int_equal(gs_turns_mode(t, A, mode, 0), 0);
	start(t, A, MS, slice);
	end(t, A, MS + length, slice);
	assert_false(of(t, A).waiting);
	start(t, B, MS + length + 80 * US, 1000000);
	end(t, B, MS + length + 240 * US, 1000000);
	start(t, A, MS + length + 320 * US, slice);
	sums = of(t, A);
	gs_turns_free(t);
	return sums;
}

/*
 * In CTA mode, running thread blocks end first. With a short slice, the turn does not show how long
 * that took.
 */
static void finishes_first(void **state)
{
	struct gs_turn_sums s = cut_off_once(GPUSCHED_PREEMPT_CILP, 1, 4 * MS);

	assert_true(s.contended_ns + s.contended_off_ns < 200 * US);
	for (uint32_t mode = GPUSCHED_PREEMPT_WFI; mode <= GPUSCHED_PREEMPT_CTA; mode++) {
		s = cut_off_once(mode, 1, 4 * MS);
		assert_int_equal(s.ended[GS_TURN_SLICE], 1);
		assert_int_equal(s.contended_ns + s.contended_off_ns, 4 * MS);
		/* a longer time does not count as contended */
		s = cut_off_once(mode, 1, 40 * MS);
		assert_int_equal(s.contended_ns + s.contended_off_ns, 5 * MS + 1024);
	}
}

/* If blocks run on past a longer slice, the turn's length does not show the slice's end either. */
static void outlasts_its_slice(void **state)
{
	struct gs_turn_sums s = cut_off_once(GPUSCHED_PREEMPT_CTA, SLICE, SLICE_NS + MS);

	assert_int_equal(s.ended[GS_TURN_SLICE], 1);
	assert_int_equal(s.waits, 1);
	assert_int_equal(s.contended_ns, SLICE_NS / 2 + MS);
	assert_int_equal(s.contended_off_ns, SLICE_NS / 2);
	assert_int_equal(s.drain_ns, MS);
	s = cut_off_once(GPUSCHED_PREEMPT_CILP, SLICE, SLICE_NS + MS);
	assert_int_equal(s.ended[GS_TURN_DRAINED], 1);
}

/* A TSG waits from a launch on, whether the launch is reported before or after its log records. */
static void launches(void **state)
{
	struct gs_turns *t = begin();
	uint64_t at = 10 * MS;

	start(t, A, MS, SLICE);
	end(t, A, MS + 300 * US, SLICE);
	start(t, B, 2 * MS, SLICE);
	gs_turns_until(t, at);
	gs_turns_launched(t, A, at + 500 * US); /* a launch still to come */
	assert_false(of(t, A).waiting);
	gs_turns_until(t, at + 700 * US);
	assert_true(of(t, A).waiting);
	assert_true(of(t, B).contended);
	assert_int_equal(of(t, B).contended_ns, 200 * US);
	end(t, B, at + MS, SLICE);
	start(t, A, at + MS + 80 * US, SLICE);
	assert_int_equal(of(t, A).waits, 1);
	assert_int_equal(of(t, A).wait_ns, 580 * US);
	assert_int_equal(of(t, B).contended_ns, 500 * US);
	/* launches while it is loaded, or before its last turn, do not make it wait */
	gs_turns_launched(t, A, at + MS + 90 * US);
	end(t, A, at + MS + 400 * US, SLICE);
	gs_turns_launched(t, A, at + MS + 300 * US);
	start(t, B, at + 2 * MS, SLICE);
	assert_false(of(t, A).waiting);
	/* B goes on for long, so A's launch cannot run yet, and A is not waiting */
	gs_turns_until(t, at + 50 * MS);
	gs_turns_launched(t, A, at + 50 * MS);
	gs_turns_until(t, at + 52 * MS);
	assert_true(of(t, A).waiting);
	gs_turns_until(t, at + 60 * MS);
	assert_false(of(t, A).waiting);
	assert_int_equal(of(t, A).waits, 1);
	gs_turns_launched(t, A, at + 99 * MS);
	gs_turns_forget(t, A);
	gs_turns_until(t, at + 100 * MS);
	adds_up(t);
	gs_turns_free(t);
}

/* Turns that begin soon after a drained turn count as returns; those after a pause do not. */
static void returns(void **state)
{
	struct gs_turns *t = begin();
	uint64_t at = MS;

	for (int i = 0; i < 10; i++, at += 400 * US) { /* beside a slice of 20 us */
		start(t, A, at, 1000000);
		end(t, A, at + 100 * US, 1000000);
		start(t, B, at + 180 * US, 20);
		end(t, B, at + 320 * US, 20);
	}
	assert_int_equal(of(t, A).returns, 9);
	for (int i = 0; i < 10; i++, at += SLICE_NS + SAVE + 260 * US) { /* beside one of 2 ms */
		start(t, A, at, 1000000);
		end(t, A, at + 100 * US, 1000000);
		start(t, B, at + 180 * US, SLICE);
		end(t, B, at + 180 * US + SLICE_NS + SAVE, SLICE);
	}
	assert_int_equal(of(t, A).returns, 19);
	for (int i = 0; i < 10; i++, at += 20 * MS) { /* after a pause */
		start(t, A, at + 15 * MS, 1000000);
		end(t, A, at + 15 * MS + 100 * US, 1000000);
		start(t, B, at + 15 * MS + 180 * US, SLICE);
		end(t, B, at + 34 * MS, SLICE);
	}
	assert_int_equal(of(t, A).returns, 19);
	gs_turns_free(t);
}

/* The time to leave is a turn's length past its slice, if another TSG waits from the START on. */
static void drains(void **state)
{
	struct gs_turns *t = begin();
	uint64_t at = MS;

	for (int i = 0; i < 100; i++, at += 2 * (SLICE_NS + 600 * US)) {
		start(t, A, at, SLICE);
		end(t, A, at + SLICE_NS + 500 * US, SLICE); /* with long thread blocks */
		start(t, B, at + SLICE_NS + 600 * US, SLICE);
		end(t, B, at + 2 * SLICE_NS + 600 * US + SAVE, SLICE);
	}
	assert_int_equal(of(t, B).drains, 100);
	assert_int_equal(of(t, B).drain_ns, SAVE);
	assert_true(of(t, A).drains > 90);
	assert_int_equal(of(t, A).drain_ns, 500 * US);
	assert_true(of(t, A).ended[GS_TURN_SLICE] > 90);
	gs_turns_free(t);
}

static void hear(uint64_t id, void *user)
{
	*(uint64_t *)user = *(uint64_t *)user * 10 + id;
}

/* Each TSG that has changed is reported once. */
static void changes(void **state)
{
	struct gs_turns *t = begin();
	uint64_t told_ids = 0;

	start(t, A, MS, SLICE);
	end(t, A, 2 * MS, SLICE);
	start(t, B, 3 * MS, SLICE);
	gs_turns_changed(t, hear, &told_ids);
	assert_int_equal(told_ids, 12);
	told_ids = 0;
	gs_turns_until(t, 100 * MS);
	gs_turns_changed(t, hear, &told_ids);
	assert_int_equal(told_ids, 0);
	end(t, B, 101 * MS, SLICE);
	gs_turns_forget(t, B);
	gs_turns_changed(t, hear, &told_ids);
	assert_int_equal(told_ids, 0);
	gs_turns_free(t);
}

/*
 * A turn's length does not show the end of a short slice. If the TSG returns right after the next
 * TSG's turn, its slice had ended.
 */
static void short_slices(void **state)
{
	struct gs_turns *t = begin();
	uint64_t at = MS;

	for (int i = 0; i < 10; i++, at += 1000 * US) {
		start(t, A, at, 20);
		end(t, A, at + 500 * US, 20);
		start(t, B, at + 580 * US, 1000000);
		end(t, B, at + 740 * US, 1000000);
	}
	assert_int_equal(of(t, A).ended[GS_TURN_SLICE], 9);
	assert_int_equal(of(t, B).ended[GS_TURN_DRAINED], 10);
	/* A does not return while B has turns: it had drained */
	for (int i = 0; i < 10; i++, at += 1000 * US) {
		start(t, B, at, 1000000);
		end(t, B, at + 160 * US, 1000000);
	}
	assert_int_equal(of(t, A).ended[GS_TURN_DRAINED], 1);
	assert_false(of(t, A).waiting);
	adds_up(t);
	gs_turns_free(t);
}

/* On an idle GPU no TSG waits. */
static void idle_settles(void **state)
{
	struct gs_turns *t = begin();
	struct gs_runlist_sums r;

	start(t, A, MS, 20);
	end(t, A, 2 * MS, 20);
	assert_int_equal(ntold, 0);
	gs_turns_until(t, 4 * MS);
	assert_int_equal(ntold, 1);
	assert_int_equal(told[0].end, GS_TURN_DRAINED);
	start(t, B, 5 * MS, 20);
	gs_turns_runlist(t, &r);
	assert_int_equal(r.open_ns, 3 * MS);
	assert_int_equal(r.lost_ns, 0);
	gs_turns_free(t);
}

/* A TSG that is alone has only a START: its time counts as held, without a sign of work. */
static void alone(void **state)
{
	struct gs_turns *t = begin();

	start(t, A, MS, SLICE);
	adds_up(t);
	gs_turns_until(t, 1000 * MS);
	assert_int_equal(of(t, A).held_ns, 999 * MS);
	assert_int_equal(of(t, A).contended_ns, 0);
	assert_int_equal(of(t, A).turns, 0);
	adds_up(t);
	gs_turns_free(t);
}

/* Time around lost records counts for no TSG, and no end of a turn is guessed. */
static void gaps(void **state)
{
	struct gs_turns *t = begin();
	struct gs_switch lost = { .ns = 9 * MS, .start = true, .gap = true };
	struct gs_runlist_sums r;

	start(t, A, 1 * MS, SLICE);
	gs_turns_until(t, 4 * MS);
	assert_int_equal(gs_turns_feed(t, &lost, B), 0);
	assert_false(of(t, A).loaded);
	assert_int_equal(of(t, A).held_ns, 3 * MS);
	assert_int_equal(of(t, A).ended[GS_TURN_UNSURE], 1);
	end(t, B, 10 * MS, SLICE);
	end(t, A, 12 * MS, SLICE); /* an END without its START */
	gs_turns_runlist(t, &r);
	assert_int_equal(r.unknown_ns, 7 * MS);
	assert_int_equal(r.gaps, 2);
	adds_up(t);
	gs_turns_free(t);
}

static void unattributed_and_forgotten(void **state)
{
	struct gs_turns *t = begin();
	struct gs_runlist_sums r;
	struct gs_turn_sums s;

	start(t, 0, MS, 0);
	end(t, 0, 2 * MS, 0);
	start(t, A, 2 * MS + 80 * US, SLICE);
	gs_turns_forget(t, A);
	gs_turns_until(t, 3 * MS + 80 * US);
	assert_int_equal(gs_turns_of(t, A, &s), -ENOENT);
	end(t, 0, 4 * MS + 80 * US, 0);
	gs_turns_runlist(t, &r);
	assert_int_equal(r.unattributed_ns, 3 * MS);
	assert_int_equal(r.gaps, 0);
	adds_up(t);
	gs_turns_free(t);
}

/* A record that is older than the time already reached is not lost. */
static void late_record(void **state)
{
	struct gs_turns *t = begin();
	struct gs_runlist_sums r;

	start(t, A, MS, SLICE);
	gs_turns_until(t, 3 * MS);
	end(t, A, 2 * MS, SLICE);
	start(t, B, 2 * MS + 80 * US, SLICE);
	gs_turns_until(t, 5 * MS);
	gs_turns_runlist(t, &r);
	assert_int_equal(r.gaps, 0);
	assert_int_equal(of(t, A).held_ns, 2 * MS);
	assert_int_equal(of(t, B).held_ns, 2 * MS);
	adds_up(t);
	gs_turns_free(t);
}

/* With random records, nothing counts twice, and TSGs never hold more time than has passed. */
static void random_records(void **state)
{
	for (unsigned int seed = 0; seed < 200; seed++) {
		struct gs_turns *t = begin();
		uint64_t at = MS, held = 0;
		struct gs_runlist_sums r;
		struct gs_turn_sums s;

		srand(seed);
		for (int i = 0; i < 500; i++) {
			struct gs_switch sw = { .ns = at,
						.start = rand() % 2,
						.gap = rand() % 50 == 0 };

			gs_turns_slice(t, 1 + (uint64_t)(rand() % 4), 1u << rand() % 12, 0);
			gs_turns_feed(t, &sw, (uint64_t)(rand() % 5));
			at += (uint64_t)(rand() % 3000) * US;
			at -= rand() % 40 ? 0 : 5 * US;
			if (rand() % 9 == 0)
				gs_turns_until(t, at);
		}
		adds_up(t);
		gs_turns_runlist(t, &r);
		for (uint64_t id = 1; id < 5; id++) {
			if (gs_turns_of(t, id, &s))
				continue;
			held += s.held_ns;
			assert_true(s.contended_ns <= s.held_ns + 500 * 5 * US);
			assert_true(s.ended[0] + s.ended[1] + s.ended[2] <= s.turns);
		}
		assert_true(held + r.unattributed_ns == r.held_ns);
		gs_turns_free(t);
	}
}

/*
 * A real GPU's log (from bench/hw/turns.c) of a BE that always has work, and an LC with requests.
 * The slice ended each turn of the BE. Each request that fits into a slice drained.
 */
static unsigned int lc, right[2], wrong[2];

static void judge(const struct gs_turn *turn, void *user)
{
	bool is_lc = turn->id == lc;

	if (turn->end == (is_lc ? GS_TURN_DRAINED : GS_TURN_SLICE))
		right[is_lc]++;
	else
		wrong[is_lc]++;
}

/* Gets the slices of a case from its name. Returns false if its right outcome is not known. */
static bool known_case(const char *label, unsigned int *be, unsigned int *lc_slice)
{
	if (strstr(label, "ten") || strstr(label, "hold") || strstr(label, "3000"))
		return false;
	*be = SLICE;
	*lc_slice = label[0] == 't' ? 1000000 : SLICE;
	return sscanf(label, "t%u.", be) == 1 || !strncmp(label, "d.", 2);
}

static void real_record(void **state)
{
	FILE *f = popen("gzip -dc '" GS_TURNS_TRACE "'", "r");
	struct gs_turns *t = NULL;
	unsigned int be = 0, lc_slice = 0, pid, context, tag;
	unsigned long long ns;
	char line[256], label[64];
	bool known = false;

	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		struct gs_switch sw = { 0 };

		if (sscanf(line, "P %u", &lc) == 1)
			continue;
		if (sscanf(line, "C %63s", label) == 1) {
			if (t)
				adds_up(t);
			gs_turns_free(t);
			assert_int_equal(gs_turns_new(judge, NULL, &t), 0);
			gs_turns_measured(t, &gs_costs_h200);
			known = known_case(label, &be, &lc_slice);
		}
		if (sscanf(line, "%llu %u %u %u", &ns, &pid, &context, &tag) != 4 || !known)
			continue;
		sw.ns = ns;
		sw.start = tag == 6;
		gs_turns_slice(t, pid, pid == lc ? lc_slice : be, 0);
		assert_int_equal(gs_turns_feed(t, &sw, pid), 0);
	}
	assert_int_equal(pclose(f), 0);
	gs_turns_free(t);
	print_message("BE: %u right, %u wrong; LC: %u right, %u wrong\n", right[0], wrong[0],
		      right[1], wrong[1]);
	assert_true(right[0] > 2500 && right[1] > 2500);
	assert_true(wrong[0] * 50 < right[0] && wrong[1] * 50 < right[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cut_and_drained),
		cmocka_unit_test(contended_in_the_last_slice),
		cmocka_unit_test(nobody_waits_beside_a_long_turn),
		cmocka_unit_test(suspended_waits_not),
		cmocka_unit_test(suspended_before_it_is_back),
		cmocka_unit_test(settings_have_their_time),
		cmocka_unit_test(contended_after_all),
		cmocka_unit_test(rests_beside_a_loaded_one),
		cmocka_unit_test(leaves_soon),
		cmocka_unit_test(finishes_first),
		cmocka_unit_test(outlasts_its_slice),
		cmocka_unit_test(launches),
		cmocka_unit_test(returns),
		cmocka_unit_test(drains),
		cmocka_unit_test(changes),
		cmocka_unit_test(short_slices),
		cmocka_unit_test(idle_settles),
		cmocka_unit_test(alone),
		cmocka_unit_test(gaps),
		cmocka_unit_test(unattributed_and_forgotten),
		cmocka_unit_test(late_record),
		cmocka_unit_test(random_records),
		cmocka_unit_test(real_record),
	};

	return cmocka_run_group_tests_name("turns", tests, NULL, NULL);
}
