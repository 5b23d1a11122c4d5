// SPDX-License-Identifier: MIT
/*
 * engine_round.c - evaluates all TSGs, in several iterations of the loop if that takes long
 *
 * A user can have thousands of TSGs. Records read at the beginning may be old by then, so later
 * iterations read each record again. If a round is asked for while one is under way, the new one
 * begins after it.
 */
#include <stdlib.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "engine/internal.h"
#include "engine/ops.h"

/* News that makes the core set everything again, as if the owner itself had set everything. */
static const struct gs_news anew = { .owner_set = GPUSCHED_ALL_SETTINGS, .owner_ns = 1 };

/* TSGs that leave their runlists come first. */
static void sort(struct gpusched_tsg *all, size_t n)
{
	size_t first = 0;

	for (size_t i = 0; i < n; i++) {
		struct gpusched_tsg rec = all[i];

		if (!gs_leaves_runlist(&rec))
			continue;
		all[i] = all[first];
		all[first++] = rec;
	}
}

static void begin_slice(struct gs_engine *e)
{
	gs_engine_refresh(e);
	e->batching = true;
}

static int begin(struct gs_engine *e, bool is_anew, uint64_t until_ns)
{
	struct gs_round *r = &e->round;
	CLEANUP_FREE struct gpusched_tsg *all = NULL;
	int ret = gs_engine_ops.all(e->o, &all, &r->n);

	if (ret < 0)
		return ret;
	r->keys = calloc(r->n + 1, sizeof(*r->keys));
	if (!r->keys)
		return -ENOMEM;
	sort(all, r->n);
	for (size_t i = 0; i < r->n; i++)
		r->keys[i] = all[i].key;
	r->anew = is_anew;
	r->again = is_anew;
	gs_core_round(e->core);
	begin_slice(e);
	for (r->at = 0; r->at < r->n && gs_now_ns() < until_ns; r->at++)
		gs_engine_look_at(e, &all[r->at], is_anew ? &anew : NULL);
	gs_jobs_release_batch(e);
	return 0;
}

static void end(struct gs_engine *e)
{
	gs_core_round_over(e->core);
	free(TAKE_PTR(e->round.keys));
}

void gs_round_go_on(struct gs_engine *e, uint64_t until_ns)
{
	struct gs_round *r = &e->round;

	if (!r->keys)
		return;
	begin_slice(e);
	for (; r->at < r->n && gs_now_ns() < until_ns; r->at++)
		gs_engine_look(e, &r->keys[r->at], r->anew ? &anew : NULL);
	gs_jobs_release_batch(e);
	if (r->at < r->n)
		return;
	end(e);
	if (r->again)
		begin(e, false, until_ns);
}

static int ask(struct gs_engine *e, bool is_anew)
{
	uint64_t until = gs_now_ns() + GS_ENGINE_SLICE_NS;
	int r;

	if (e->round.keys && !is_anew) {
		e->round.again = true;
		return 0;
	}
	free(TAKE_PTR(e->round.keys));
	r = begin(e, is_anew, until);
	if (!r && e->round.at == e->round.n)
		gs_round_go_on(e, until);
	return r;
}

int gs_engine_touch_all(struct gs_engine *e)
{
	return ask(e, false);
}

int gs_engine_begin_anew(struct gs_engine *e)
{
	struct gpusched_cfg cfg;
	int r = gs_engine_ops.cfg(e->o, &cfg);

	if (r)
		return r;
	e->epoch = cfg.epoch;
	return ask(e, true);
}

void gs_engine_unseen(struct gs_engine *e, bool runs)
{
	if (e->unseen == runs)
		return;
	e->unseen = runs;
	gs_engine_touch_all(e);
}
