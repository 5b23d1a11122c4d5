// SPDX-License-Identifier: MIT
/* engine_look.c - passes one TSG's record to the core, and carries out its answer */
#include <stdlib.h>

#include "basic/clock.h"
#include "engine/aside.h"
#include "engine/internal.h"
#include "engine/settled.h"
#include "engine/quarantine.h"
#include "engine/spend.h"
#include "engine/ops.h"

void gs_engine_refresh(struct gs_engine *e)
{
	struct gpusched_cfg cfg;

	if (gs_engine_ops.cfg(e->o, &cfg))
		return;
	gs_core_policy(e->core, cfg.policy_active,
		       e->policy_flags | (e->unseen ? GS_CORE_UNSEEN : 0));
	e->overtaken = cfg.epoch != e->epoch;
}

void gs_engine_forget(struct gs_engine *e, const struct gpusched_key *key)
{
	struct gs_job *job = NULL;

	if (e->pending)
		job = gs_workers_cancel(e->workers, key);
	if (job) {
		e->pending--;
		gs_core_cancel(e->core, &job->plan);
		free(job);
	}
	gs_core_forget(e->core, key);
	gs_engine_ops.way_gone(key->client, key->handle);
}

int gs_engine_look_at(struct gs_engine *e, struct gpusched_tsg *rec, const struct gs_news *news)
{
	struct gs_todo todo;
	int r;

	if (e->opts.complete)
		e->opts.complete(rec, e->opts.user);
	r = gs_core_look(e->core, rec, news, gs_now_ns(), &todo);
	return r < 0 ? r : gs_jobs_carry_out(e, &todo);
}

int gs_engine_look(struct gs_engine *e, const struct gpusched_key *key, const struct gs_news *news)
{
	struct gpusched_tsg rec;
	int r = gs_engine_ops.get(e->o, key, &rec);

	if (r == -ENOENT)
		gs_engine_forget(e, key);
	return r < 0 ? r : gs_engine_look_at(e, &rec, news);
}

int gs_engine_tell(struct gs_engine *e, const struct gpusched_key *key, const struct gs_news *news)
{
	gs_engine_refresh(e);
	return gs_engine_look(e, key, news);
}

int gs_engine_touch(struct gs_engine *e, const struct gpusched_key *key)
{
	return gs_engine_tell(e, key, NULL);
}

int gs_engine_settled(struct gs_engine *e, const struct gpusched_key *key,
		      const struct gs_settled *settled)
{
	const struct gs_news news = {
		.given = settled->sliced,
		.slice_us = settled->slice_us,
		.job = settled->job,
	};

	return gs_engine_tell(e, key, &news);
}

int gs_engine_owner_set(struct gs_engine *e, const struct gpusched_key *key, uint32_t fields,
			uint64_t ns)
{
	const struct gs_news news = { .owner_set = fields, .owner_ns = ns };

	return gs_engine_tell(e, key, &news);
}

int gs_engine_anew(struct gs_engine *e, const struct gpusched_key *key)
{
	const struct gs_news news = { .anew = GPUSCHED_ALL_SETTINGS };

	return gs_engine_tell(e, key, &news);
}

int gs_engine_greedy(struct gs_engine *e, const struct gpusched_key *key)
{
	const struct gs_news news = { .greedy = true };

	return gs_engine_tell(e, key, &news);
}

int gs_engine_aside(struct gs_engine *e, const struct gpusched_key *key, bool aside)
{
	const struct gs_news news = { .aside = aside, .back = !aside };

	return gs_engine_tell(e, key, &news);
}

int gs_engine_park_refused(struct gs_engine *e, const struct gpusched_key *key)
{
	const struct gs_news news = { .park_refused = true };

	return gs_engine_tell(e, key, &news);
}

int gs_engine_check(struct gs_engine *e, const struct gpusched_key *key)
{
	const struct gs_news news = { .check = true };

	return gs_engine_tell(e, key, &news);
}

int gs_engine_spend(struct gs_engine *e, const struct gpusched_key *key, bool spent)
{
	const struct gs_news news = { .spent = spent, .unspent = !spent };

	return gs_engine_tell(e, key, &news);
}

int gs_engine_quarantine(struct gs_engine *e, const struct gpusched_key *key, bool on)
{
	const struct gs_news news = { .quarantine = on, .unquarantine = !on };

	return gs_engine_tell(e, key, &news);
}

int gs_engine_doubt(struct gs_engine *e, const struct gpusched_key *key)
{
	const struct gs_news news = { .doubt = true };

	return gs_engine_tell(e, key, &news);
}
