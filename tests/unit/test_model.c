/* SPDX-License-Identifier: MIT */
/* The rules of turns in the GPU model, one test each. */
#include "model_world.h"

static void resident_context_starts_at_once(void **state)
{
	struct world *w = world(NULL, 1);
	struct sim_channel *ch = channel(tsg(w, 0, SIM_ENGINE_GR, 1), 7);

	kernel(ch, CAPACITY, 100, 1);
	sim_model_advance(w->m, 10 * MS);
	kernel(ch, CAPACITY, 100, 2);
	sim_model_advance(w->m, 20 * MS);
	assert_int_equal(done_at(w, 2), 10 * MS + 100 * US);
	world_free(w);
}

static void slice_goes_on_while_nobody_else_is_ready(void **state)
{
	struct world *w = world(NULL, 1);
	struct sim_tsg *t = tsg(w, 0, SIM_ENGINE_GR, 1);
	struct sim_channel *ch = channel(t, 7);

	kernel(ch, CAPACITY, 20000, 1);
	kernel(ch, CAPACITY, 20000, 2);
	sim_model_advance(w->m, 50 * MS);
	assert_int_equal(turns(t), 1);
	assert_int_equal(done_at(w, 2), 40055 * US);
	world_free(w);
}

static void slice_expires_when_another_is_ready(void **state)
{
	struct world *w = world(NULL, 1);
	struct sim_tsg *a = tsg(w, 0, SIM_ENGINE_GR, 1), *b = tsg(w, 0, SIM_ENGINE_GR, 2);

	kernel(channel(a, 7), CAPACITY, 3000, 1);
	kernel(channel(b, 8), CAPACITY, 100, 2);
	sim_model_advance(w->m, 20 * MS);
	/* a from 50 to 1050, saved 20, switch 100, start 5, run 100 */
	assert_int_equal(done_at(w, 2), (1050 + 20 + 100 + 5 + 100) * US);
	/* b idle for 40, switch 50, restore 30; a has done 995 of 3000 */
	assert_int_equal(done_at(w, 1), (1275 + 40 + 50 + 30 + 3000 - 995) * US);
	/* to its START each; a once more from its END at 1070 to its START at 1365 */
	assert_int_equal(wait_time(b), 1170 * US);
	assert_int_equal(wait_time(a), (50 + 1365 - 1070) * US);
	world_free(w);
}

static void late_rival_waits_for_the_end_of_the_period(void **state)
{
	struct world *w = world(NULL, 1);
	struct sim_tsg *a = tsg(w, 0, SIM_ENGINE_GR, 1), *b = tsg(w, 0, SIM_ENGINE_GR, 2);
	struct sim_channel *cb = channel(b, 8);

	kernel(channel(a, 7), CAPACITY, 30000, 1);
	sim_model_advance(w->m, 4550 * US); /* the fifth period ends at 5050 */
	kernel(cb, CAPACITY, 100, 2);
	sim_model_advance(w->m, 60 * MS);
	assert_int_equal(done_at(w, 2), (5050 + 20 + 100 + 5 + 100) * US);
	world_free(w);
}

/* Ready while the switch to another is under way: that one comes first. */
static void next_is_settled_when_the_turn_ends(void **state)
{
	struct world *w = world(NULL, 1);
	struct sim_tsg *a = tsg(w, 0, SIM_ENGINE_GR, 1), *b = tsg(w, 0, SIM_ENGINE_GR, 2);
	struct sim_tsg *c = tsg(w, 0, SIM_ENGINE_GR, 3);
	struct sim_channel *cb = channel(b, 8);

	kernel(channel(a, 7), CAPACITY, 3000, 1);
	kernel(channel(c, 9), CAPACITY, 100, 3);
	sim_model_advance(w->m, 1100 * US); /* a has left at 1050 */
	kernel(cb, CAPACITY, 100, 2);
	sim_model_advance(w->m, 20 * MS);
	assert_int_equal(done_at(w, 3), (1050 + 20 + 100 + 5 + 100) * US);
	assert_true(done_at(w, 2) > done_at(w, 3));
	world_free(w);
}

static void next_is_settled_when_an_idle_turn_ends(void **state)
{
	struct world *w = world(NULL, 1);
	struct sim_tsg *a = tsg(w, 0, SIM_ENGINE_GR, 1), *b = tsg(w, 0, SIM_ENGINE_GR, 2);
	struct sim_tsg *c = tsg(w, 0, SIM_ENGINE_GR, 3);
	struct sim_channel *cb = channel(b, 8);

	kernel(channel(a, 7), CAPACITY, 100, 1);
	kernel(channel(c, 9), CAPACITY, 100, 3);
	sim_model_advance(w->m, 160 * US); /* a was done at 155 and leaves until 195 */
	kernel(cb, CAPACITY, 100, 2);
	sim_model_advance(w->m, 20 * MS);
	assert_int_equal(done_at(w, 3), (195 + 50 + 5 + 100) * US);
	assert_true(done_at(w, 2) > done_at(w, 3));
	world_free(w);
}

/* A restore is paid once; the next turn after finished work is a fresh start. */
static void restored_state_is_gone(void **state)
{
	struct world *w = world(NULL, 1);
	struct sim_tsg *a = tsg(w, 0, SIM_ENGINE_GR, 1), *b = tsg(w, 0, SIM_ENGINE_GR, 2);
	struct sim_channel *ca = channel(a, 7), *cb = channel(b, 8);

	kernel(ca, CAPACITY, 1500, 1);
	kernel(cb, CAPACITY, 100, 2);
	sim_model_advance(w->m, 10 * MS);
	kernel(cb, CAPACITY, 100, 3);
	sim_model_advance(w->m, 20 * MS);
	kernel(ca, CAPACITY, 100, 4);
	sim_model_advance(w->m, 30 * MS);
	assert_int_equal(done_at(w, 4), 20 * MS + (50 + 5 + 100) * US);
	world_free(w);
}

static void preempt_ends_an_idle_turn(void **state)
{
	struct world *w = world(NULL, 1);
	struct sim_tsg *a = tsg(w, 0, SIM_ENGINE_GR, 1);

	kernel(channel(a, 7), CAPACITY, 100, 1);
	sim_model_advance(w->m, 160 * US);
	sim_tsg_preempt(a);
	sim_model_advance(w->m, 10 * MS);
	assert_int_equal(w->nsw, 2);
	assert_int_equal(w->sw[1].ns, 160 * US);
	world_free(w);
}

static void new_timeslice_counts_at_once(void **state)
{
	struct world *w = world(NULL, 1);
	struct sim_tsg *a = tsg(w, 0, SIM_ENGINE_GR, 1), *b = tsg(w, 0, SIM_ENGINE_GR, 2);

	kernel(channel(a, 7), CAPACITY, 30000, 1);
	kernel(channel(b, 8), CAPACITY, 100, 2);
	sim_model_advance(w->m, 250 * US);
	assert_int_equal(sim_tsg_set_timeslice(a, 300), 0);
	sim_model_advance(w->m, 60 * MS);
	assert_int_equal(done_at(w, 2), (350 + 20 + 100 + 5 + 100) * US);
	assert_int_equal(sim_tsg_set_timeslice(a, 0), -EINVAL);
	assert_int_equal(sim_tsg_set_timeslice(a, 100000001), -EINVAL);
	world_free(w);
}

static void drained_gives_up_its_turn(void **state)
{
	struct world *w = world(NULL, 1);
	struct sim_tsg *a = tsg(w, 0, SIM_ENGINE_GR, 1), *b = tsg(w, 0, SIM_ENGINE_GR, 2);

	assert_int_equal(sim_tsg_set_timeslice(a, 1000000), 0);
	kernel(channel(a, 7), CAPACITY, 200, 1);
	kernel(channel(b, 8), CAPACITY, 100, 2);
	sim_model_advance(w->m, 20 * MS);
	assert_int_equal(done_at(w, 1), 255 * US);
	assert_int_equal(done_at(w, 2), (255 + 40 + 50 + 5 + 100) * US);
	world_free(w);
}

/* The host goes on when all that is queued has begun, but what runs keeps the GPU. */
static void the_last_kernel_runs_to_its_end(void **state)
{
	struct world *w = world(NULL, 1);
	struct sim_tsg *a = tsg(w, 0, SIM_ENGINE_GR, 1), *b = tsg(w, 0, SIM_ENGINE_GR, 2);

	assert_int_equal(sim_tsg_set_timeslice(a, 1000000), 0);
	kernel(channel(a, 7), CAPACITY, 20000, 1);
	kernel(channel(b, 8), CAPACITY, 100, 2);
	sim_model_advance(w->m, 30 * MS);
	assert_int_equal(turns(a), 1);
	assert_int_equal(done_at(w, 1), 20055 * US);
	assert_int_equal(done_at(w, 2), (20055 + 40 + 50 + 5 + 100) * US);
	world_free(w);
}

/* When kernel 3 of a is done that comes at 200, while its 1 runs; b has something to do @from. */
static uint64_t done_that_came_late(uint64_t from, bool event_behind)
{
	struct world *w = world(NULL, 1);
	struct sim_tsg *a = tsg(w, 0, SIM_ENGINE_GR, 1), *b = tsg(w, 0, SIM_ENGINE_GR, 2);
	struct sim_channel *ca = channel(a, 7), *cb = channel(b, 8);
	struct sim_work mark = { .kind = SIM_WORK_MARK, .cookie = 9 };
	uint64_t ns;

	assert_int_equal(sim_tsg_set_timeslice(a, 1000000), 0);
	kernel(ca, CAPACITY, 500, 1);
	if (event_behind)
		assert_int_equal(sim_channel_submit(ca, &mark), 0);
	if (from < 200) {
		sim_model_advance(w->m, from * US);
		kernel(cb, CAPACITY, 100, 2);
	}
	sim_model_advance(w->m, 200 * US);
	kernel(ca, CAPACITY, 100, 3);
	sim_model_advance(w->m, from * US);
	if (from >= 200)
		kernel(cb, CAPACITY, 100, 2);
	sim_model_advance(w->m, 20 * MS);
	assert_int_equal(done_at(w, 1), 555 * US);
	ns = done_at(w, 3);
	assert_int_equal(done_at(w, 2),
			 (ns == 655 * US ? 655 : 555) * US + (40 + 50 + 5 + 100) * US);
	world_free(w);
	return ns;
}

static void what_comes_after_the_last_has_begun_waits_for_the_next_turn(void **state)
{
	uint64_t next_turn = (555 + 2 * (40 + 50 + 5 + 100)) * US;

	assert_int_equal(done_that_came_late(0, false), next_turn);
	assert_int_equal(done_that_came_late(150, false), next_turn);
	assert_int_equal(done_that_came_late(0, true), next_turn);
	assert_int_equal(done_that_came_late(300, false), 655 * US); /* nobody waited then */
}

/* What was left out begins when the last of the others is gone. */
static void a_turn_takes_work_again_when_nobody_waits_any_more(void **state)
{
	struct world *w = world(NULL, 1);
	struct sim_tsg *a = tsg(w, 0, SIM_ENGINE_GR, 1), *b = tsg(w, 0, SIM_ENGINE_GR, 2);
	struct sim_channel *one = channel(a, 7), *two = channel(a, 8);

	assert_int_equal(sim_tsg_set_timeslice(a, 1000000), 0);
	kernel(one, CAPACITY / 2, 500, 1);
	kernel(channel(b, 9), CAPACITY, 100, 3);
	sim_model_advance(w->m, 150 * US);
	kernel(two, CAPACITY / 2, 100, 2);
	sim_model_advance(w->m, 300 * US);
	sim_tsg_schedule(b, false);
	sim_model_advance(w->m, 20 * MS);
	assert_int_equal(done_at(w, 1), 555 * US);
	assert_int_equal(done_at(w, 2), 400 * US);
	world_free(w);
}

static void what_comes_while_an_idle_context_is_saved_waits_for_the_next_turn(void **state)
{
	struct world *w = world(NULL, 1);
	struct sim_channel *ca = channel(tsg(w, 0, SIM_ENGINE_GR, 1), 7);
	struct sim_channel *cb = channel(tsg(w, 0, SIM_ENGINE_GR, 2), 8);

	kernel(ca, CAPACITY, 100, 1);
	sim_model_advance(w->m, 170 * US); /* done at 155; nobody waits, so it stays */
	kernel(ca, CAPACITY, 100, 2);
	kernel(cb, CAPACITY, 100, 3);
	sim_model_advance(w->m, 280 * US); /* done at 270 */
	kernel(ca, CAPACITY, 100, 4);
	sim_model_advance(w->m, 10 * MS);
	assert_int_equal(done_at(w, 2), 270 * US);
	assert_int_equal(done_at(w, 3), (270 + 40 + 50 + 5 + 100) * US);
	assert_int_equal(done_at(w, 4), (465 + 40 + 50 + 5 + 100) * US);
	world_free(w);
}

static void a_slice_is_counted_in_its_unit(void **state)
{
	struct sim_params p;
	struct world *w;

	params(&p);
	p.slice_unit_ns = 1024;
	w = world(&p, 1);
	kernel(channel(tsg(w, 0, SIM_ENGINE_GR, 1), 7), CAPACITY, 3000, 1);
	kernel(channel(tsg(w, 0, SIM_ENGINE_GR, 2), 8), CAPACITY, 100, 2);
	sim_model_advance(w->m, 20 * MS);
	assert_int_equal(done_at(w, 2), (50 + 1024 + 20 + 100 + 5 + 100) * US);
	world_free(w);
}

static void held_by_a_second_kernel(void **state)
{
	struct world *w = world(NULL, 1);
	struct sim_channel *ch = channel(tsg(w, 0, SIM_ENGINE_GR, 1), 7);

	assert_int_equal(sim_tsg_set_timeslice(sim_channel_tsg(ch), 1000000), 0);
	kernel(ch, CAPACITY, 20000, 1);
	kernel(ch, 1, 10, 3);
	kernel(channel(tsg(w, 0, SIM_ENGINE_GR, 2), 8), CAPACITY, 100, 2);
	sim_model_advance(w->m, 1 * MS);
	kernel(ch, CAPACITY, 100, 4);
	sim_model_advance(w->m, 30 * MS);
	assert_int_equal(done_at(w, 1), 20055 * US);
	assert_int_equal(done_at(w, 4), 20165 * US);
	assert_int_equal(done_at(w, 2), (20165 + 40 + 50 + 5 + 100) * US);
	world_free(w);
}

static uint64_t second_done_with_mode(unsigned int mode, uint64_t blocks, uint64_t block_us)
{
	struct world *w = world(NULL, 1);
	struct sim_tsg *a = tsg(w, 0, SIM_ENGINE_GR, 1), *b = tsg(w, 0, SIM_ENGINE_GR, 2);
	uint64_t ns;

	assert_int_equal(sim_tsg_set_preempt_mode(a, mode), 0);
	kernel(channel(a, 7), blocks, block_us, 1);
	kernel(channel(b, 8), CAPACITY, 100, 2);
	sim_model_advance(w->m, 60 * MS);
	assert_int_not_equal(done_at(w, 1), 0);
	ns = done_at(w, 2);
	world_free(w);
	return ns;
}

/* a: 10 waves of 300 us from 55 on; its slice ends at 1050, in the fourth wave (955 to 1255) */
static void cilp_saves_at_once(void **state)
{
	assert_int_equal(second_done_with_mode(2, 10 * CAPACITY, 300),
			 (1050 + 20 + 100 + 5 + 100) * US);
}

static void cta_waits_for_running_blocks(void **state)
{
	assert_int_equal(second_done_with_mode(1, 10 * CAPACITY, 300),
			 (1255 + 10 + 100 + 5 + 100) * US);
}

static void wfi_waits_for_the_kernel(void **state)
{
	assert_int_equal(second_done_with_mode(0, 10 * CAPACITY, 300),
			 (3055 + 10 + 100 + 5 + 100) * US);
}

static void unknown_settings_are_refused(void **state)
{
	struct world *w = world(NULL, 1);
	struct sim_tsg *t = tsg(w, 0, SIM_ENGINE_GR, 1), *none = NULL;

	assert_int_equal(sim_tsg_set_preempt_mode(t, 3), -EINVAL);
	assert_int_equal(sim_tsg_set_interleave(t, 3), -EINVAL);
	assert_int_equal(sim_tsg_new(w->m, 1, SIM_ENGINE_GR, NULL, &none), -EINVAL);
	assert_int_equal(sim_tsg_new(w->m, 0, 8, NULL, &none), -EINVAL);
	assert_int_equal(sim_tsg_new(w->m, 0, SIM_ENGINE_COPY0 + w->p.copy_engines, NULL, &none),
			 -EINVAL);
	assert_null(none);
	world_free(w);
}

/* Copy engines beyond the tenth, and graphics engines beyond the first, have numbers apart. */
static void engines_have_their_numbers(void **state)
{
	struct sim_tsg *t = NULL;
	struct sim_params p;
	struct world *w;

	params(&p);
	p.copy_engines = 12;
	p.gr_engines = 3;
	w = world(&p, 1);
	assert_int_equal(sim_tsg_new(w->m, 0, 3, NULL, &t), 0);
	assert_int_equal(sim_tsg_new(w->m, 0, 4, NULL, &t), -EINVAL);
	assert_int_equal(sim_tsg_new(w->m, 0, 18, NULL, &t), 0);
	assert_int_equal(sim_tsg_new(w->m, 0, 19, NULL, &t), -EINVAL);
	assert_int_equal(sim_tsg_new(w->m, 0, 0x35, NULL, &t), 0);
	assert_int_equal(sim_tsg_new(w->m, 0, 0x36, NULL, &t), -EINVAL);
	world_free(w);
}

static void interleave_counts_turns(void **state)
{
	struct sim_params p;
	struct world *w;
	struct sim_tsg *t[5];
	const unsigned int level[5] = { 0, 0, 1, 1, 2 };

	params(&p);
	p.interleave_honoured = true;
	w = world(&p, 1);
	for (unsigned int i = 0; i < 5; i++) {
		t[i] = tsg(w, 0, SIM_ENGINE_GR, i);
		assert_int_equal(sim_tsg_set_interleave(t[i], level[i]), 0);
		keep_busy(w, channel(t[i], i));
	}
	sim_model_advance(w->m, 1120 * MS * 12); /* a round: 2 low, 2 x 2 medium, 6 high turns */
	assert_in_range(turns(t[0]), 990, 1010);
	assert_in_range(turns(t[2]), 2 * turns(t[0]) - 3, 2 * turns(t[0]) + 3);
	assert_in_range(turns(t[4]), 6 * turns(t[0]) - 7, 6 * turns(t[0]) + 7);
	world_free(w);
}

static void interleave_is_ignored_where_the_gpu_does(void **state)
{
	struct world *w = world(NULL, 1);
	struct sim_tsg *t[3];

	for (unsigned int i = 0; i < 3; i++) {
		t[i] = tsg(w, 0, SIM_ENGINE_GR, i);
		assert_int_equal(sim_tsg_set_interleave(t[i], i), 0);
		keep_busy(w, channel(t[i], i));
	}
	sim_model_advance(w->m, 1000 * MS);
	assert_in_range(turns(t[2]), turns(t[0]) - 1, turns(t[0]) + 1);
	world_free(w);
}

static void round_is_in_order(void **state)
{
	struct world *w = world(NULL, 1);

	for (unsigned int i = 0; i < 4; i++)
		keep_busy(w, channel(tsg(w, 0, SIM_ENGINE_GR, i), i));
	sim_model_advance(w->m, 20 * MS);
	assert_true(w->nsw > 16);
	for (size_t i = 0; i < w->nsw; i++)
		assert_int_equal((uintptr_t)w->sw[i].user, i / 2 % 4);
	world_free(w);
}

static void disabled_is_skipped_and_keeps_its_progress(void **state)
{
	struct world *w = world(NULL, 1);
	struct sim_tsg *a = tsg(w, 0, SIM_ENGINE_GR, 1);
	struct sim_channel *ch = channel(a, 7);
	uint64_t before;

	kernel(ch, CAPACITY, 1000, 1);
	sim_model_advance(w->m, 455 * US); /* 400 done */
	sim_channel_enable(ch, false);
	sim_model_advance(w->m, 5 * MS);
	before = gpu_time(a);
	assert_int_equal(before, 425 * US); /* start 5, run 400, save 20 */
	sim_model_advance(w->m, 10 * MS);
	assert_int_equal(gpu_time(a), before);
	assert_int_equal(wait_time(a), 50 * US); /* suspended is not waiting */
	assert_int_equal(done_at(w, 1), 0);
	sim_channel_enable(ch, true);
	sim_model_advance(w->m, 20 * MS);
	assert_int_equal(done_at(w, 1), 10 * MS + (50 + 30 + 600) * US);
	world_free(w);
}

static void one_disabled_channel_leaves_the_others(void **state)
{
	struct world *w = world(NULL, 1);
	struct sim_tsg *t = tsg(w, 0, SIM_ENGINE_GR, 1);
	struct sim_channel *a = channel(t, 7), *b = channel(t, 7);

	kernel(a, CAPACITY / 2, 1000, 1);
	kernel(b, CAPACITY / 2, 1000, 2);
	sim_model_advance(w->m, 555 * US);
	sim_channel_enable(a, false);
	sim_model_advance(w->m, 10 * MS);
	assert_int_equal(done_at(w, 2), 1055 * US);
	assert_int_equal(done_at(w, 1), 0);
	sim_channel_enable(a, true);
	sim_model_advance(w->m, 20 * MS);
	assert_int_not_equal(done_at(w, 1), 0);
	world_free(w);
}

static void unscheduled_does_not_run(void **state)
{
	struct world *w = world(NULL, 1);
	struct sim_tsg *t = NULL;

	assert_int_equal(sim_tsg_new(w->m, 0, SIM_ENGINE_GR, NULL, &t), 0);
	kernel(channel(t, 7), 1, 100, 1);
	sim_model_advance(w->m, 10 * MS);
	assert_int_equal(done_at(w, 1), 0);
	sim_tsg_schedule(t, true);
	sim_model_advance(w->m, 20 * MS);
	assert_int_not_equal(done_at(w, 1), 0);
	world_free(w);
}

static void preempt_ends_the_turn(void **state)
{
	struct world *w = world(NULL, 1);
	struct sim_tsg *a = tsg(w, 0, SIM_ENGINE_GR, 1), *b = tsg(w, 0, SIM_ENGINE_GR, 2);

	assert_int_equal(sim_tsg_set_timeslice(a, 1000000), 0);
	kernel(channel(a, 7), CAPACITY, 20000, 1);
	kernel(channel(b, 8), CAPACITY, 100, 2);
	sim_model_advance(w->m, 555 * US);
	sim_tsg_preempt(a);
	sim_tsg_preempt(b); /* not running: nothing happens */
	sim_model_advance(w->m, 30 * MS);
	assert_int_equal(done_at(w, 2), (555 + 20 + 100 + 5 + 100) * US);
	assert_int_not_equal(done_at(w, 1), 0);
	world_free(w);
}

static void slice_shorter_than_the_restore_makes_no_progress(void **state)
{
	struct world *w = world(NULL, 1);
	struct sim_tsg *t[2];
	struct sim_tsg_state s;

	for (unsigned int i = 0; i < 2; i++) {
		t[i] = tsg(w, 0, SIM_ENGINE_GR, i);
		assert_int_equal(sim_tsg_set_timeslice(t[i], 1), 0);
		keep_busy(w, channel(t[i], i));
	}
	sim_model_advance(w->m, 1000 * MS);
	sim_tsg_state(t[0], &s);
	assert_int_equal(s.work_done, 0);
	assert_true(s.switches_in > 1000);
	/* longer ones again: it ends */
	for (unsigned int i = 0; i < 2; i++)
		assert_int_equal(sim_tsg_set_timeslice(t[i], 2000), 0);
	sim_model_advance(w->m, 1100 * MS);
	sim_tsg_state(t[0], &s);
	assert_in_range(s.work_done, 80, 100);
	world_free(w);
}

static void log_is_balanced_and_numbered(void **state)
{
	struct world *w = world(NULL, 1);

	for (unsigned int i = 0; i < 3; i++)
		keep_busy(w, channel(tsg(w, 0, SIM_ENGINE_GR, i), 100 + i));
	sim_model_advance(w->m, 50 * MS);
	assert_true(w->nsw > 60);
	for (size_t i = 0; i < w->nsw; i++) {
		assert_int_equal(w->sw[i].seqno, i);
		assert_int_equal(w->sw[i].start, i % 2 == 0);
		assert_int_equal(w->sw[i].engine, SIM_ENGINE_GR);
		assert_int_equal(w->sw[i].context_id, 100 + (uintptr_t)w->sw[i].user);
		if (i && w->sw[i].start)
			assert_int_equal(w->sw[i].ns - w->sw[i - 1].ns, 100 * US);
		else if (i)
			assert_ptr_equal(w->sw[i].user, w->sw[i - 1].user);
	}
	world_free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(resident_context_starts_at_once),
		cmocka_unit_test(slice_goes_on_while_nobody_else_is_ready),
		cmocka_unit_test(slice_expires_when_another_is_ready),
		cmocka_unit_test(late_rival_waits_for_the_end_of_the_period),
		cmocka_unit_test(next_is_settled_when_the_turn_ends),
		cmocka_unit_test(next_is_settled_when_an_idle_turn_ends),
		cmocka_unit_test(restored_state_is_gone),
		cmocka_unit_test(preempt_ends_an_idle_turn),
		cmocka_unit_test(new_timeslice_counts_at_once),
		cmocka_unit_test(drained_gives_up_its_turn),
		cmocka_unit_test(the_last_kernel_runs_to_its_end),
		cmocka_unit_test(what_comes_after_the_last_has_begun_waits_for_the_next_turn),
		cmocka_unit_test(a_turn_takes_work_again_when_nobody_waits_any_more),
		cmocka_unit_test(what_comes_while_an_idle_context_is_saved_waits_for_the_next_turn),
		cmocka_unit_test(a_slice_is_counted_in_its_unit),
		cmocka_unit_test(held_by_a_second_kernel),
		cmocka_unit_test(cilp_saves_at_once),
		cmocka_unit_test(cta_waits_for_running_blocks),
		cmocka_unit_test(wfi_waits_for_the_kernel),
		cmocka_unit_test(unknown_settings_are_refused),
		cmocka_unit_test(engines_have_their_numbers),
		cmocka_unit_test(interleave_counts_turns),
		cmocka_unit_test(interleave_is_ignored_where_the_gpu_does),
		cmocka_unit_test(round_is_in_order),
		cmocka_unit_test(disabled_is_skipped_and_keeps_its_progress),
		cmocka_unit_test(one_disabled_channel_leaves_the_others),
		cmocka_unit_test(unscheduled_does_not_run),
		cmocka_unit_test(preempt_ends_the_turn),
		cmocka_unit_test(slice_shorter_than_the_restore_makes_no_progress),
		cmocka_unit_test(log_is_balanced_and_numbered),
	};

	return cmocka_run_group_tests_name("model", tests, NULL, NULL);
}
