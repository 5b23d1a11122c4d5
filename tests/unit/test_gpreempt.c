// SPDX-License-Identifier: MIT
/*
 * test_gpreempt.c - check libgpreempt's decisions, with a simulated clock
 *
 * Which queue has the turn, and which queue's TSG is preempted or suspended.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "preempt/core.h"
#include "preempt/cost.h"

#define US NS_PER_US
#define MS NS_PER_MS

enum { LOW, NORMAL, HIGH };

/* Queues 0 and 1 are low, 2 is normal, 3 is high. */
struct world {
	struct core core;
	struct core_queue q[4];
	uint64_t now;
};

static struct world world(void)
{
	static const int priorities[] = { LOW, LOW, NORMAL, HIGH };
	struct world w = {
		.core = { .outside = CORE_NONE, .patience_ns = 500 * US, .suspend_ns = 2 * MS },
		.now = 1000 * MS,
	};

	for (unsigned int i = 0; i < 4; i++)
		w.q[i] =
			(struct core_queue){ .priority = priorities[i], .weight = 100, .depth = 4 };
	return w;
}

/* Sets the core's pointers to the queues, once the world is at its final address. */
static void place(struct world *w)
{
	w->core.n = 4;
	for (unsigned int i = 0; i < 4; i++)
		w->core.queues[i] = &w->q[i];
}

static enum core_answer ask(struct world *w, unsigned int i)
{
	if (!w->q[i].waiting)
		core_arrive(&w->core, &w->q[i], w->now);
	return core_may(&w->core, &w->q[i], w->now);
}

static void begin(struct world *w, unsigned int i)
{
	core_begin(&w->q[i], w->now);
}

static void done(struct world *w, unsigned int i, uint64_t after)
{
	w->now += after;
	core_done(&w->core, &w->q[i], 1, w->now);
}

#define WORLD(name) \
	struct world name = world(); \
	place(&name)

static void test_alone(void **state)
{
	WORLD(w);

	for (unsigned int i = 0; i < 4; i++) {
		assert_int_equal(ask(&w, 0), CORE_GO);
		begin(&w, 0);
	}
	assert_int_equal(ask(&w, 0), CORE_FULL);
	done(&w, 0, MS);
	assert_int_equal(ask(&w, 0), CORE_GO);
}

static void test_strict_priority(void **state)
{
	WORLD(w);

	assert_int_equal(ask(&w, 3), CORE_GO);
	assert_int_equal(ask(&w, 0), CORE_BELOW); /* the higher queue has asked, but not begun */
	begin(&w, 3);
	assert_int_equal(ask(&w, 0), CORE_BELOW); /* the higher queue works */
	assert_int_equal(ask(&w, 2), CORE_BELOW);
	done(&w, 3, MS);
	assert_int_equal(ask(&w, 2), CORE_GO);
	begin(&w, 2);
	assert_int_equal(ask(&w, 0), CORE_BELOW);
	assert_int_equal(ask(&w, 3), CORE_GO);
	done(&w, 2, MS);
	w.q[3].waiting = false;
	assert_int_equal(ask(&w, 0), CORE_GO);
}

static void test_other_processes(void **state)
{
	WORLD(w);

	w.core.outside = NORMAL;
	assert_int_equal(ask(&w, 0), CORE_BELOW);
	/* another process's queue of the same priority holds no queue back */
	assert_int_equal(ask(&w, 2), CORE_GO);
	w.q[2].waiting = false;
	w.core.outside = CORE_NONE;
	assert_int_equal(ask(&w, 0), CORE_GO);
}

static void test_nobody_starves(void **state)
{
	WORLD(w);

	ask(&w, 3);
	begin(&w, 3);
	assert_int_equal(ask(&w, 0), CORE_BELOW);
	w.now += CORE_STARVED_NS - 1;
	assert_int_equal(ask(&w, 0), CORE_BELOW);
	w.now++;
	assert_int_equal(ask(&w, 0), CORE_PASS);
	begin(&w, 0);
	assert_int_equal(ask(&w, 0), CORE_BELOW); /* it passes only once */
}

static void test_equals_take_turns(void **state)
{
	WORLD(w);

	ask(&w, 0);
	begin(&w, 0);
	assert_int_equal(ask(&w, 1), CORE_TURN);
	begin(&w, 0);
	done(&w, 0, CORE_QUANTUM_NS);
	assert_int_equal(ask(&w, 0), CORE_GO); /* within its quantum the queue goes on */
	begin(&w, 0);
	done(&w, 0, MS);
	assert_int_equal(ask(&w, 0), CORE_TURN); /* its quantum is over ... */
	assert_int_equal(ask(&w, 1), CORE_TURN); /* ... but its work has to be done first */
	done(&w, 0, MS);
	assert_int_equal(ask(&w, 1), CORE_GO);
	begin(&w, 1);
	assert_int_equal(ask(&w, 0), CORE_TURN);
}

static void test_earlier_deadline_first(void **state)
{
	WORLD(w);

	w.q[0].deadline_ns = 20 * MS;
	w.q[1].deadline_ns = 5 * MS;
	ask(&w, 0);
	assert_int_equal(ask(&w, 1), CORE_GO);
	assert_int_equal(ask(&w, 0), CORE_TURN);
	w.q[1].waiting = false;
	assert_int_equal(ask(&w, 0), CORE_GO);
	begin(&w, 0);
	ask(&w, 1);
	/* queue 0 has no more work, so its quantum does not matter */
	assert_int_equal(ask(&w, 0), CORE_TURN);
	w.q[1].deadline_ns = 0;
	w.q[1].waiting = false;
	ask(&w, 1);
	/* a queue with a deadline comes before one without */
	assert_int_equal(ask(&w, 0), CORE_GO);
}

/* Two queues always want to submit 1 ms of work. Returns how many of @turns queue 0 had. */
static unsigned int race(struct world *w, unsigned int turns)
{
	unsigned int first = 0;

	for (unsigned int k = 0; k < turns; k++) {
		unsigned int i;

		for (i = 0; i < 2; i++)
			while (ask(w, i) == CORE_GO)
				begin(w, i);
		i = w->q[0].in_flight ? 0 : 1;
		assert_false(w->q[0].in_flight && w->q[1].in_flight);
		assert_true(w->q[i].in_flight);
		done(w, i, MS);
		first += !i;
	}
	return first;
}

static void test_weights(void **state)
{
	WORLD(w);

	w.q[0].weight = 300;
	assert_in_range(race(&w, 4000), 2900, 3100);
	w.q[0].weight = 100;
	assert_in_range(race(&w, 4000), 1900, 2100);
}

/* A queue does not save up time while it is idle. */
static void test_idle_saves_nothing(void **state)
{
	WORLD(w);

	for (unsigned int k = 0; k < 1000; k++) {
		ask(&w, 0);
		begin(&w, 0);
		done(&w, 0, MS);
	}
	w.q[0].waiting = false;
	ask(&w, 0);
	begin(&w, 0);
	assert_in_range(race(&w, 400), 180, 220);
}

static void test_failed_submission(void **state)
{
	WORLD(w);

	ask(&w, 3);
	begin(&w, 3);
	core_fail(&w.q[3]);
	assert_int_equal(ask(&w, 0), CORE_GO);
}

/* ---- inversion ------------------------------------------------------------------------------- */

/* Puts low work on the GPU, and high work behind it. */
static void invert(struct world *w)
{
	ask(w, 0);
	begin(w, 0);
	ask(w, 3);
	begin(w, 3);
}

static struct core_wish look(struct world *w, unsigned int i, uint64_t after)
{
	w->now += after;
	return core_look(&w->core, &w->q[i], w->now);
}

static void test_preempts_then_suspends(void **state)
{
	WORLD(w);
	struct core_wish wish;

	invert(&w);
	wish = look(&w, 0, 499 * US);
	assert_false(wish.inverted || wish.preempt || wish.suspend);
	wish = look(&w, 0, US);
	assert_true(wish.inverted && wish.preempt && !wish.suspend);
	wish = look(&w, 0, US);
	assert_false(wish.inverted || wish.preempt); /* reported once */
	assert_false(look(&w, 0, 1498 * US).suspend);
	assert_true(look(&w, 0, US).suspend);
	assert_false(look(&w, 3, 0).suspend); /* the higher queue is never suspended */
	assert_false(look(&w, 1, 0).suspend); /* a queue without work is not suspended either */
	done(&w, 3, MS);
	assert_true(look(&w, 0, 0).suspend); /* stays suspended for CORE_LINGER_NS: more may come */
	w.now += CORE_LINGER_NS - 1;
	begin(&w, 3);
	assert_true(look(&w, 0, 0).suspend);
	done(&w, 3, 1);
	assert_true(look(&w, 0, 0).suspend);
	assert_true(look(&w, 0, CORE_LINGER_NS - 1).suspend);
	assert_false(look(&w, 0, 1).suspend);
}

static void test_progress_is_no_inversion(void **state)
{
	WORLD(w);

	invert(&w);
	for (unsigned int k = 0; k < 100; k++) {
		assert_false(look(&w, 0, 400 * US).inverted);
		ask(&w, 3);
		begin(&w, 3);
		done(&w, 3, 0);
	}
}

static void test_calls_are_rare(void **state)
{
	WORLD(w);
	unsigned int inversions = 0, calls = 0;

	invert(&w);
	for (unsigned int k = 0; k < 1000; k++) { /* one second */
		struct core_wish wish = look(&w, 0, 600 * US);

		inversions += wish.inverted;
		calls += wish.preempt;
		done(&w, 3, 400 * US);
		ask(&w, 3);
		begin(&w, 3);
	}
	assert_int_equal(inversions, 1000);
	assert_in_range(calls, 15, 20);
}

static void test_suspended_at_most(void **state)
{
	WORLD(w);

	invert(&w);
	assert_true(look(&w, 0, 2 * MS).suspend);
	assert_true(look(&w, 0, CORE_LONGEST_NS - 1).suspend);
	assert_false(look(&w, 0, 1).suspend);
	assert_false(look(&w, 0, CORE_REST_NS - 1).suspend);
	assert_true(look(&w, 0, 1).suspend);
}

static void test_other_processes_invert(void **state)
{
	WORLD(w);

	ask(&w, 0);
	begin(&w, 0);
	w.core.outside = HIGH;
	w.core.outside_ns = w.now;
	assert_true(look(&w, 0, 500 * US).preempt);
	assert_true(look(&w, 0, 1500 * US).suspend);
	w.core.outside = CORE_NONE;
	look(&w, 0, 0);
	assert_false(look(&w, 0, CORE_LINGER_NS).suspend);
	w.core.outside = HIGH;
	w.core.outside_ns = w.now + MS; /* another process's claim from the future does no harm */
	assert_false(look(&w, 0, 0).suspend);
}

static void test_by_hand(void **state)
{
	WORLD(w);

	ask(&w, 3);
	begin(&w, 3);
	w.q[3].taken_ns = w.now + 10 * MS;
	assert_true(look(&w, 3, 0).suspend);
	assert_int_equal(ask(&w, 3), CORE_TAKEN);
	assert_int_equal(ask(&w, 0), CORE_GO); /* a queue whose GPU is taken holds no queue back */
	assert_true(look(&w, 3, 10 * MS - 1).suspend);
	assert_false(look(&w, 3, 1).suspend);
	w.q[3].taken_ns = UINT64_MAX;
	assert_true(look(&w, 3, 1000000 * MS).suspend);
	core_resume(&w.q[3], w.now);
	assert_false(look(&w, 3, 0).suspend);
}

static void test_claims(void **state)
{
	WORLD(w);
	uint64_t since = 0;

	assert_int_equal(core_claim(&w.core, w.now, &since), CORE_NONE);
	assert_true(core_sleep_ns(&w.core) == NS_PER_S);
	invert(&w);
	w.now += MS;
	assert_int_equal(core_claim(&w.core, w.now, &since), HIGH);
	assert_true(since == w.now - MS);
	w.core.queues[0] = &w.q[3];
	w.core.queues[3] = &w.q[0];
	assert_int_equal(core_claim(&w.core, w.now, &since), HIGH); /* for any order of queues */
	assert_in_range(core_sleep_ns(&w.core), 1, MS);
	done(&w, 3, 0);
	assert_int_equal(core_claim(&w.core, w.now, &since), LOW);
	assert_true(core_sleep_ns(&w.core) == NS_PER_S);
	w.core.outside = HIGH;
	assert_in_range(core_sleep_ns(&w.core), 1, MS);
}

static void test_cost_of_a_switch(void **state)
{
	static const unsigned char uuid[16] = { 0x0b, 0x02, 0xe5, 0x36, 0xa1, 0x4e, 0x46, 0x1a,
						0xb0, 0x49, 0xb8, 0x56, 0xad, 0xd6, 0x3f, 0xfc };
	static const unsigned char other[16] = { 1 };
	static const char gpus[] =
		"{\"gpus\":[{\"gpu\":0,\"gpu_uuid\":\"GPU-01000000-0000-0000-0000-000000000000\","
		"\"switch_us\":9.0,\"save_us\":null},{\"switch_us\":252.0,"
		"\"gpu_uuid\":\"GPU-0b02e536-a14e-461a-b049-b856add63ffc\",\"save_us\":279.0}]}";

	assert_int_equal(cost_usual_us(), 200);
	assert_int_equal(cost_of_us(gpus, uuid), 580);
	assert_int_equal(cost_of_us(gpus, other), 0);
	assert_int_equal(cost_of_us("{\"gpus\":[]}", uuid), 0);
	assert_int_equal(cost_of_us("GPU-0b02e536-a14e-461a-b049-b856add63ffc", uuid), 0);
	assert_int_equal(cost_of_us("", uuid), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cost_of_a_switch),
		cmocka_unit_test(test_alone),
		cmocka_unit_test(test_strict_priority),
		cmocka_unit_test(test_other_processes),
		cmocka_unit_test(test_nobody_starves),
		cmocka_unit_test(test_equals_take_turns),
		cmocka_unit_test(test_earlier_deadline_first),
		cmocka_unit_test(test_weights),
		cmocka_unit_test(test_idle_saves_nothing),
		cmocka_unit_test(test_failed_submission),
		cmocka_unit_test(test_preempts_then_suspends),
		cmocka_unit_test(test_progress_is_no_inversion),
		cmocka_unit_test(test_calls_are_rare),
		cmocka_unit_test(test_suspended_at_most),
		cmocka_unit_test(test_other_processes_invert),
		cmocka_unit_test(test_by_hand),
		cmocka_unit_test(test_claims),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
