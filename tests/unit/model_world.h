/* SPDX-License-Identifier: MIT */
/*
 * model_world.h - run a model for tests, and note what it reports
 *
 * Switch costs are round numbers (see params()), so that expected times can be added up by hand.
 */
#ifndef TESTS_UNIT_MODEL_WORLD_H
#define TESTS_UNIT_MODEL_WORLD_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/model.h"
#include "sim/params.h"

#define US 1000ull
#define MS 1000000ull
#define MAX_LOG 100000
#define CAPACITY 100

struct done {
	struct sim_channel *ch;
	uint64_t cookie, ns;
};

struct world {
	struct sim_model *m;
	struct sim_params p;
	struct done done[MAX_LOG];
	size_t ndone;
	struct sim_switch sw[MAX_LOG];
	size_t nsw;
	/* busy channels: each gets new work when its work is done */
	struct sim_channel *busy[64];
	size_t nbusy;
	struct sim_work busy_work;
};

static inline void on_done(void *user, struct sim_channel *ch, uint64_t cookie, uint64_t ns)
{
	struct world *w = user;

	assert_true(w->ndone < MAX_LOG);
	w->done[w->ndone++] = (struct done){ ch, cookie, ns };
	for (size_t i = 0; i < w->nbusy; i++)
		if (w->busy[i] == ch)
			assert_int_equal(sim_work_submit(ch, &w->busy_work), 0);
}

static inline void on_switch(void *user, const struct sim_switch *sw)
{
	struct world *w = user;

	assert_true(w->nsw < MAX_LOG);
	w->sw[w->nsw++] = *sw;
}

/*
 * Switch costs in us: saving takes 10 in WFI and CTA mode, 20 in CILP, 40 for an idle TSG. From END
 * to START it takes 100, after an idle TSG 50. Starts take 5, 15 or 30.
 */
static inline void params(struct sim_params *p)
{
	sim_params_default(p);
	p->blocks_at_once = CAPACITY;
	p->kernel_gap_ns = 0;
	p->save_wfi_ns = p->save_cta_ns = 10 * US;
	p->save_cilp_ns = 20 * US;
	p->switch_wfi_ns = p->switch_cta_ns = p->switch_cilp_ns = 100 * US;
	p->switch_idle_ns = 50 * US;
	p->start_ns = 5 * US;
	p->restore_cta_ns = 15 * US;
	p->restore_cilp_ns = 30 * US;
	p->save_idle_ns = 40 * US;
	p->slice_unit_ns = 1000;
	p->default_timeslice_us = 1000;
	p->copy_bytes_per_us = 65536;
}

static inline struct world *world(const struct sim_params *p, unsigned int gpus)
{
	struct world *w = calloc(1, sizeof(*w));
	struct sim_model_ops ops = { .on_done = on_done, .on_switch = on_switch, .user = w };

	assert_non_null(w);
	if (p)
		w->p = *p;
	else
		params(&w->p);
	assert_int_equal(sim_model_new(&w->p, gpus, 1, &ops, &w->m), 0);
	return w;
}

static inline void world_free(struct world *w)
{
	sim_model_free(w->m);
	free(w);
}

static inline struct sim_tsg *tsg(struct world *w, unsigned int gpu, unsigned int engine,
				  uint64_t id)
{
	struct sim_tsg *t = NULL;

	assert_int_equal(sim_model_tsg_new(w->m, gpu, engine, (void *)(uintptr_t)id, &t), 0);
	sim_model_tsg_schedule(t, true);
	return t;
}

static inline struct sim_channel *channel(struct sim_tsg *t, uint32_t cid)
{
	struct sim_channel *ch = NULL;

	assert_int_equal(sim_model_channel_new(t, cid, &ch), 0);
	return ch;
}

static inline void kernel(struct sim_channel *ch, uint64_t blocks, uint64_t block_us,
			  uint64_t cookie)
{
	struct sim_work k = { .kind = SIM_WORK_KERNEL,
			      .blocks = blocks,
			      .block_ns = block_us * US,
			      .cookie = cookie };

	assert_int_equal(sim_work_submit(ch, &k), 0);
}

/* Returns when the work was done, or 0 if it is not done. */
static inline uint64_t done_at(const struct world *w, uint64_t cookie)
{
	for (size_t i = 0; i < w->ndone; i++)
		if (w->done[i].cookie == cookie)
			return w->done[i].ns;
	return 0;
}

static inline uint64_t turns(const struct sim_tsg *t)
{
	struct sim_tsg_state s;

	sim_model_tsg_state(t, &s);
	return s.switches_in;
}

static inline uint64_t wait_time(const struct sim_tsg *t)
{
	struct sim_tsg_state s;

	sim_model_tsg_state(t, &s);
	return s.wait_time_ns;
}

static inline uint64_t gpu_time(const struct sim_tsg *t)
{
	struct sim_tsg_state s;

	sim_model_tsg_state(t, &s);
	return s.gpu_time_ns;
}

static inline void keep_busy(struct world *w, struct sim_channel *ch)
{
	w->busy_work = (struct sim_work){
		.kind = SIM_WORK_KERNEL, .blocks = CAPACITY, .block_ns = 500 * US, .cookie = 99
	};
	w->busy[w->nbusy++] = ch;
	for (int i = 0; i < 3; i++)
		assert_int_equal(sim_work_submit(ch, &w->busy_work), 0);
}

#endif /* TESTS_UNIT_MODEL_WORLD_H */
