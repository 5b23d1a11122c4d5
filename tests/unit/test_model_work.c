/* SPDX-License-Identifier: MIT */
/* test_model_work.c - check kinds of work in the GPU model that test_model.c does not cover */
#include "model_world.h"

static void work_is_conserved(void **state)
{
	struct world *w = world(NULL, 1);
	struct sim_tsg *t[4];
	struct sim_tsg_state s;

	for (unsigned int i = 0; i < 4; i++) {
		struct sim_channel *a, *b;

		t[i] = tsg(w, 0, SIM_ENGINE_GR, i);
		assert_int_equal(sim_model_tsg_set_mode(t[i], i % 3), 0);
		assert_int_equal(sim_model_tsg_set_timeslice(t[i], 50 + 100 * i), 0);
		a = channel(t[i], i);
		b = channel(t[i], i);
		for (unsigned int k = 0; k < 25; k++) {
			kernel(a, 33 * (k + 1), 20, 1000 * i + k);
			kernel(b, 7 * (k + 1), 90, 1000 * i + 100 + k);
		}
	}
	for (unsigned int i = 0; i < 300; i++) {
		sim_model_advance(w->m, i * 77 * US);
		sim_model_tsg_preempt(t[i % 4]);
	}
	sim_model_advance(w->m, 1000 * MS);
	for (unsigned int i = 0; i < 4; i++) {
		sim_model_tsg_state(t[i], &s);
		assert_int_equal(s.work_done, 50);
		assert_int_equal(s.queued, 0);
		for (unsigned int k = 0; k < 25; k++) {
			assert_int_not_equal(done_at(w, 1000 * i + k), 0);
			assert_int_not_equal(done_at(w, 1000 * i + 100 + k), 0);
		}
	}
	world_free(w);
}

/* Two channels of a server that always fill the GPU do not keep a third one from running. */
static void full_channels_take_turns(void **state)
{
	struct world *w = world(NULL, 1);
	struct sim_tsg *t = tsg(w, 0, SIM_ENGINE_GR, 0);
	struct sim_channel *last;

	keep_busy(w, channel(t, 1));
	keep_busy(w, channel(t, 2));
	last = channel(t, 3);
	kernel(last, CAPACITY, 1000, 500);
	sim_model_advance(w->m, 20 * MS);
	assert_int_not_equal(done_at(w, 500), 0);
	world_free(w);
}

/* Progress does not depend on how often the caller looks. */
static void steps_of_time_change_nothing(void **state)
{
	struct world *w[2];

	for (int v = 0; v < 2; v++) {
		w[v] = world(NULL, 1);
		for (unsigned int i = 0; i < 3; i++) {
			struct sim_tsg *t = tsg(w[v], 0, SIM_ENGINE_GR, i);

			assert_int_equal(sim_model_tsg_set_mode(t, i), 0);
			keep_busy(w[v], channel(t, i));
			keep_busy(w[v], channel(t, i));
		}
	}
	sim_model_advance(w[0]->m, 100 * MS);
	for (uint64_t ns = 0; ns <= 100 * MS; ns += 333)
		sim_model_advance(w[1]->m, ns);
	sim_model_advance(w[1]->m, 100 * MS);
	assert_true(w[0]->ndone > 50);
	assert_int_equal(w[0]->ndone, w[1]->ndone);
	for (size_t i = 0; i < w[0]->ndone; i++)
		assert_int_equal(w[0]->done[i].ns, w[1]->done[i].ns);
	assert_int_equal(w[0]->nsw, w[1]->nsw);
	world_free(w[0]);
	world_free(w[1]);
}

static void two_gpus_are_independent(void **state)
{
	struct world *w = world(NULL, 2);

	kernel(channel(tsg(w, 0, SIM_ENGINE_GR, 1), 7), CAPACITY, 5000, 1);
	kernel(channel(tsg(w, 1, SIM_ENGINE_GR, 2), 8), CAPACITY, 5000, 2);
	sim_model_advance(w->m, 10 * MS);
	assert_int_equal(done_at(w, 1), 5055 * US);
	assert_int_equal(done_at(w, 2), 5055 * US);
	for (size_t i = 0; i < w->nsw; i++)
		assert_int_equal(w->sw[i].seqno, i / 2);
	world_free(w);
}

static void copies_run_beside_kernels_and_one_at_a_time(void **state)
{
	struct world *w = world(NULL, 1);
	struct sim_tsg *t = tsg(w, 0, SIM_ENGINE_COPY0, 2);
	struct sim_work copy = { .kind = SIM_WORK_COPY, .bytes = 65536 * 100, .cookie = 2 };

	w->p.switch_copy_ns = 5 * US;
	kernel(channel(tsg(w, 0, SIM_ENGINE_GR, 1), 7), CAPACITY, 5000, 1);
	assert_int_equal(sim_work_submit(channel(t, 8), &copy), 0);
	copy.cookie = 3;
	assert_int_equal(sim_work_submit(channel(t, 8), &copy), 0);
	sim_model_advance(w->m, 10 * MS);
	assert_int_equal(done_at(w, 1), 5055 * US);
	/* two copies of 100 chunks of 1 us each; the engine copies one chunk at a time */
	assert_in_range(done_at(w, 2), 104 * US, 206 * US);
	assert_in_range(done_at(w, 3), 205 * US, 206 * US);
	world_free(w);
}

static void mark_takes_no_turn_but_its_place_in_order(void **state)
{
	struct world *w = world(NULL, 1);
	struct sim_tsg *a = tsg(w, 0, SIM_ENGINE_GR, 1), *b = tsg(w, 0, SIM_ENGINE_GR, 2);
	struct sim_channel *ca = channel(a, 7), *cb = channel(b, 8);
	struct sim_work mark = { .kind = SIM_WORK_MARK, .cookie = 5 };

	kernel(ca, CAPACITY, 3000, 1);
	assert_int_equal(sim_work_submit(ca, &mark), 0);
	mark.cookie = 6;
	sim_model_advance(w->m, 500 * US);
	assert_int_equal(sim_work_submit(cb, &mark), 0);
	assert_int_equal(w->ndone, 0); /* callbacks come only from sim_model_advance() */
	sim_model_advance(w->m, 500 * US);
	assert_int_equal(done_at(w, 6), 500 * US);
	sim_model_advance(w->m, 10 * MS);
	assert_int_equal(done_at(w, 5), 3055 * US);
	assert_int_equal(turns(b), 0);
	world_free(w);
}

static void mark_waits_while_its_channel_is_disabled(void **state)
{
	struct world *w = world(NULL, 1);
	struct sim_channel *ch = channel(tsg(w, 0, SIM_ENGINE_GR, 1), 7);
	struct sim_work mark = { .kind = SIM_WORK_MARK, .cookie = 5 };

	sim_work_enable_channel(ch, false);
	assert_int_equal(sim_work_submit(ch, &mark), 0);
	sim_model_advance(w->m, 1 * MS);
	assert_int_equal(w->ndone, 0);
	sim_work_enable_channel(ch, true);
	sim_model_advance(w->m, 2 * MS);
	assert_int_equal(done_at(w, 5), 1 * MS);
	world_free(w);
}

static bool flag_is_set(void *arg)
{
	return *(bool *)arg;
}

static void hold_waits_for_its_flag_and_takes_no_room(void **state)
{
	struct world *w = world(NULL, 1);
	struct sim_tsg *t = tsg(w, 0, SIM_ENGINE_GR, 1);
	struct sim_channel *a = channel(t, 7), *b = channel(t, 7);
	bool flag = false;
	struct sim_work hold = { .kind = SIM_WORK_HOLD,
				 .limit_ns = 2 * MS,
				 .released = flag_is_set,
				 .arg = &flag,
				 .cookie = 1 };

	assert_int_equal(sim_work_submit(a, &hold), 0);
	kernel(b, CAPACITY, 100, 2);
	sim_model_advance(w->m, 1000 * US);
	assert_int_equal(done_at(w, 2), 155 * US);
	assert_int_equal(done_at(w, 1), 0);
	assert_true(sim_model_next(w->m) <= 1000 * US + w->p.hold_poll_ns);
	flag = true;
	sim_model_advance(w->m, 10 * MS);
	assert_in_range(done_at(w, 1), 1000 * US, 1000 * US + w->p.hold_poll_ns);
	flag = false;
	hold.cookie = 3;
	assert_int_equal(sim_work_submit(a, &hold), 0);
	sim_model_advance(w->m, 20 * MS);
	assert_int_equal(done_at(w, 3), 12 * MS); /* at the limit of its wait */
	world_free(w);
}

/*
 * A program may submit 2^64 - 1 ns of work, whose end is past the last time; time must still pass.
 */
static void endless_kernel_does_not_stop_time(void **state)
{
	const uint64_t waves = 6700417;
	struct sim_work k = { .kind = SIM_WORK_KERNEL,
			      .blocks = waves * CAPACITY,
			      .block_ns = UINT64_MAX / waves };
	struct world *w = world(NULL, 1);
	struct sim_tsg *a = tsg(w, 0, SIM_ENGINE_GR, 1), *b = tsg(w, 0, SIM_ENGINE_GR, 2);

	assert_int_equal(sim_work_submit(channel(a, 7), &k), 0);
	sim_model_advance(w->m, 1 * MS);
	assert_true(sim_model_next(w->m) > 1 * MS);
	kernel(channel(b, 8), 1, 100, 2);
	sim_model_advance(w->m, 100 * MS);
	assert_int_equal(w->ndone, 1);
	assert_in_range(done_at(w, 2), 1 * MS, 100 * MS);
	world_free(w);
}

static void full_queue_refuses(void **state)
{
	struct sim_params p;
	struct world *w;
	struct sim_channel *ch;
	struct sim_work k = { .kind = SIM_WORK_KERNEL, .blocks = 1, .block_ns = US };

	params(&p);
	p.queue_depth = 20;
	w = world(&p, 1);
	ch = channel(tsg(w, 0, SIM_ENGINE_GR, 1), 7);
	for (int i = 0; i < 20; i++)
		assert_int_equal(sim_work_submit(ch, &k), 0);
	assert_int_equal(sim_work_submit(ch, &k), -ENOSPC);
	sim_model_advance(w->m, 10 * MS);
	assert_int_equal(w->ndone, 20);
	assert_int_equal(sim_work_submit(ch, &k), 0);
	world_free(w);
}

static void freed_while_running_lets_others_in(void **state)
{
	struct world *w = world(NULL, 1);
	struct sim_tsg *a = tsg(w, 0, SIM_ENGINE_GR, 1), *b = tsg(w, 0, SIM_ENGINE_GR, 2);

	kernel(channel(a, 7), CAPACITY, 5000, 1);
	kernel(channel(b, 8), CAPACITY, 100, 2);
	sim_model_advance(w->m, 500 * US);
	sim_model_tsg_free(a);
	sim_model_advance(w->m, 10 * MS);
	assert_int_equal(done_at(w, 1), 0);
	assert_int_equal(done_at(w, 2), (500 + 50 + 5 + 100) * US);
	sim_model_tsg_free(b);
	assert_int_equal(sim_model_next(w->m), 10 * MS);
	sim_model_advance(w->m, 20 * MS);
	assert_int_equal(sim_model_next(w->m), UINT64_MAX);
	for (size_t i = 0; i < w->nsw; i++)
		assert_int_equal(w->sw[i].start, i % 2 == 0);
	world_free(w);
}

static void channel_freed_with_work_drops_it(void **state)
{
	struct world *w = world(NULL, 1);
	struct sim_tsg *t = tsg(w, 0, SIM_ENGINE_GR, 1);
	struct sim_channel *a = channel(t, 7), *b = channel(t, 7);

	kernel(a, CAPACITY, 5000, 1);
	kernel(b, CAPACITY, 100, 2);
	sim_model_advance(w->m, 500 * US);
	sim_model_channel_free(a);
	sim_model_advance(w->m, 10 * MS);
	assert_int_equal(done_at(w, 1), 0);
	assert_int_equal(done_at(w, 2), 600 * US);
	world_free(w);
}

static void same_seed_same_times(void **state)
{
	struct world *a = world(NULL, 1), *b = world(NULL, 1);
	bool differ = false;
	uint64_t last = 0;

	for (int i = 0; i < 100; i++) {
		uint64_t t = sim_call_time(a->m, SIM_CALL_SET_TIMESLICE);

		assert_int_equal(t, sim_call_time(b->m, SIM_CALL_SET_TIMESLICE));
		assert_in_range(t, 250 * US, 490 * US);
		differ |= i && t != last;
		last = t;
		assert_int_equal(sim_notice_time(a->m), sim_notice_time(b->m));
	}
	assert_true(differ);
	world_free(a);
	world_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(work_is_conserved),
		cmocka_unit_test(steps_of_time_change_nothing),
		cmocka_unit_test(two_gpus_are_independent),
		cmocka_unit_test(copies_run_beside_kernels_and_one_at_a_time),
		cmocka_unit_test(mark_takes_no_turn_but_its_place_in_order),
		cmocka_unit_test(mark_waits_while_its_channel_is_disabled),
		cmocka_unit_test(hold_waits_for_its_flag_and_takes_no_room),
		cmocka_unit_test(endless_kernel_does_not_stop_time),
		cmocka_unit_test(full_queue_refuses),
		cmocka_unit_test(freed_while_running_lets_others_in),
		cmocka_unit_test(channel_freed_with_work_drops_it),
		cmocka_unit_test(full_channels_take_turns),
		cmocka_unit_test(same_seed_same_times),
	};

	return cmocka_run_group_tests_name("model_work", tests, NULL, NULL);
}
