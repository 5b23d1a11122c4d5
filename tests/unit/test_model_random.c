/* SPDX-License-Identifier: MIT */
/*
 * test_model_random.c - check the GPU model with random events at random times
 *
 * At all times, START and END must alternate on every engine, no work may be lost or done twice,
 * each channel must keep its order, GPU time must not add up to more than the time that has passed,
 * and the same seed must give the same log.
 */
#include "model_world.h"
#include "basic/rng.h"

#define TSGS 6
#define CHANNELS 3
#define STEPS 400

struct queue {
	struct sim_channel *ch;
	uint64_t submitted, done; /* number of the last work submitted, and of the last done */
};

struct chaos {
	struct sim_model *m;
	struct sim_tsg *t[TSGS];
	struct queue q[TSGS][CHANNELS];
	uint64_t rng, seqno[3], hash;
	bool started[3], flag;
};

static unsigned int engine_index(unsigned int engine)
{
	return engine == SIM_ENGINE_GR ? 0 : engine - SIM_ENGINE_COPY0 + 1;
}

static void chaos_done(void *user, struct sim_channel *ch, uint64_t cookie, uint64_t ns)
{
	struct chaos *c = user;

	for (int i = 0; i < TSGS; i++)
		for (int k = 0; k < CHANNELS; k++)
			if (c->t[i] && c->q[i][k].ch == ch) {
				assert_int_equal(cookie, c->q[i][k].done);
				c->q[i][k].done++;
				c->hash = (c->hash ^ ns ^ cookie) * 1099511628211ull;
				return;
			}
	fail_msg("work of a channel that is gone");
}

static void chaos_switch(void *user, const struct sim_switch *sw)
{
	struct chaos *c = user;
	unsigned int e = engine_index(sw->engine);

	assert_int_equal(sw->seqno, c->seqno[e]++);
	assert_int_equal(sw->start, !c->started[e]);
	c->started[e] = sw->start;
	c->hash = (c->hash ^ sw->ns) * 1099511628211ull;
}

static void make(struct chaos *c, int i)
{
	unsigned int engine = i < 4 ? SIM_ENGINE_GR : SIM_ENGINE_COPY0 + (i & 1);

	assert_int_equal(sim_model_tsg_new(c->m, 0, engine, NULL, &c->t[i]), 0);
	for (int k = 0; k < CHANNELS; k++) {
		c->q[i][k] = (struct queue){ 0 };
		assert_int_equal(sim_model_channel_new(c->t[i], (uint32_t)i, &c->q[i][k].ch), 0);
	}
	sim_model_tsg_schedule(c->t[i], true);
}

static bool chaos_flag(void *arg)
{
	return *(bool *)arg;
}

static void submit(struct chaos *c, int i, struct queue *q)
{
	uint64_t r = gs_rng_next(&c->rng);
	struct sim_work w = { .cookie = q->submitted };

	switch (i < 4 ? r % 8 : 6 + r % 2) {
	case 0:
		w.kind = SIM_WORK_HOLD;
		w.limit_ns = 1000 + r % 500000;
		w.released = chaos_flag;
		w.arg = &c->flag;
		break;
	case 1:
		w.kind = SIM_WORK_MARK;
		break;
	case 6:
	case 7:
		w.kind = SIM_WORK_COPY;
		w.bytes = r % 3000000;
		break;
	default:
		w.kind = SIM_WORK_KERNEL;
		w.blocks = r % 300;
		w.block_ns = r / 512 % 400000;
	}
	if (sim_work_submit(q->ch, &w) == 0)
		q->submitted++;
}

static void disturb(struct chaos *c)
{
	int i = (int)(gs_rng_next(&c->rng) % TSGS);
	uint64_t r = gs_rng_next(&c->rng);
	struct queue *q = &c->q[i][r % CHANNELS];

	switch (r / 16 % 16) {
	case 0:
		assert_int_equal(sim_model_tsg_set_timeslice(c->t[i], 1 + r % 3000), 0);
		break;
	case 1:
		assert_int_equal(sim_model_tsg_set_interleave(c->t[i], r % 3), 0);
		break;
	case 2:
		assert_int_equal(sim_model_tsg_set_mode(c->t[i], r % 3), 0);
		break;
	case 3:
		sim_model_tsg_schedule(c->t[i], r & 1024);
		break;
	case 4:
		sim_model_tsg_preempt(c->t[i]);
		break;
	case 5:
	case 6:
		sim_work_enable_channel(q->ch, r & 1024);
		break;
	case 7:
		c->flag = r & 1024;
		break;
	case 8:
		if (r & 0x7000)
			break;
		sim_model_tsg_free(c->t[i]);
		c->t[i] = NULL;
		make(c, i);
		break;
	default:
		submit(c, i, q);
	}
}

static void finish(struct chaos *c)
{
	uint64_t gpu_time[3] = { 0 }, held[3] = { 0 };
	struct sim_tsg_state s;

	c->flag = true;
	for (int i = 0; i < TSGS; i++) {
		assert_int_equal(sim_model_tsg_set_timeslice(c->t[i], 2000), 0);
		sim_model_tsg_schedule(c->t[i], true);
		for (int k = 0; k < CHANNELS; k++)
			sim_work_enable_channel(c->q[i][k].ch, true);
	}
	sim_model_advance(c->m, sim_model_now(c->m) + 20000 * MS);
	assert_int_equal(sim_model_next(c->m), UINT64_MAX);
	for (int i = 0; i < TSGS; i++) {
		sim_model_tsg_state(c->t[i], &s);
		assert_int_equal(s.queued, 0);
		assert_false(s.running);
		gpu_time[i < 4 ? 0 : 1 + (i & 1)] += s.gpu_time_ns;
		held[i < 4 ? 0 : 1 + (i & 1)] += s.held_ns;
		assert_true(s.gpu_time_ns <= s.held_ns);
		assert_true(s.gpu_time_ns + s.wait_time_ns <= sim_model_now(c->m));
		for (int k = 0; k < CHANNELS; k++)
			assert_int_equal(c->q[i][k].done, c->q[i][k].submitted);
	}
	for (int e = 0; e < 3; e++) {
		assert_true(gpu_time[e] <= held[e]);
		assert_true(held[e] <= sim_model_now(c->m));
	}
}

static uint64_t chaos_run(uint64_t seed)
{
	struct chaos c = { .rng = seed, .hash = 14695981039346656037ull };
	struct sim_model_ops ops = { .on_done = chaos_done, .on_switch = chaos_switch, .user = &c };
	struct sim_params p;

	params(&p);
	p.interleave_honoured = seed & 1;
	p.save_idle_ns = seed & 2 ? 0 : 40 * US;
	p.queue_depth = 40;
	p.copy_engines = 2;
	p.kernel_gap_ns = 2300;
	assert_int_equal(sim_model_new(&p, 1, seed, &ops, &c.m), 0);
	for (int i = 0; i < TSGS; i++)
		make(&c, i);
	for (int n = 0; n < STEPS; n++) {
		disturb(&c);
		if (gs_rng_next(&c.rng) & 1)
			sim_model_advance(c.m,
					  sim_model_now(c.m) + gs_rng_next(&c.rng) % (300 * US));
	}
	finish(&c);
	sim_model_free(c.m);
	return c.hash;
}

static void nothing_is_lost_whatever_happens(void **state)
{
	for (uint64_t seed = 1; seed <= 300; seed++)
		chaos_run(seed);
}

static void same_seed_same_log(void **state)
{
	for (uint64_t seed = 1; seed <= 20; seed++) {
		assert_true(chaos_run(seed) == chaos_run(seed));
		assert_true(chaos_run(seed) != chaos_run(seed + 1));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_lost_whatever_happens),
		cmocka_unit_test(same_seed_same_log),
	};

	return cmocka_run_group_tests_name("model_random", tests, NULL, NULL);
}
