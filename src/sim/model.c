/* SPDX-License-Identifier: MIT */
/*
 * model.c - keeps the GPU model's objects, settings and time
 *
 * Turns are in model_engine.c, their order in model_round.c, the progress of work in model_work.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gpusched/abi.h"
#include "sim/model_priv.h"

#define MAX_GPUS 64

int sim_model_new(const struct sim_params *params, unsigned int gpus, uint64_t seed,
		  const struct sim_model_ops *ops, struct sim_model **ret)
{
	struct sim_model *m;

	if (!gpus || gpus > MAX_GPUS || !params->blocks_at_once || !params->copy_bytes_per_us ||
	    !params->gr_engines || params->gr_engines > SIM_MAX_GR ||
	    !params->default_timeslice_us || !params->slice_unit_ns ||
	    params->default_preempt_mode >= SIM_MODES)
		return -EINVAL;
	m = calloc(1, sizeof(*m));
	if (!m)
		return -ENOMEM;
	m->p = *params;
	if (ops)
		m->ops = *ops;
	m->rng = seed;
	m->gpus = gpus;
	m->engines_per_gpu = params->gr_engines + params->copy_engines;
	m->nengines = gpus * m->engines_per_gpu;
	m->eng = calloc(m->nengines, sizeof(*m->eng));
	if (!m->eng) {
		free(m);
		return -ENOMEM;
	}
	for (unsigned int i = 0; i < m->nengines; i++) {
		unsigned int k = i % m->engines_per_gpu;

		m->eng[i].m = m;
		m->eng[i].gpu = i / m->engines_per_gpu;
		m->eng[i].engine = k < params->gr_engines ? SIM_ENGINE_GR + k
							  : sim_copy_engine(k - params->gr_engines);
		m->eng[i].next = SIM_NEVER;
	}
	*ret = m;
	return 0;
}

static void free_channels(struct sim_tsg *t)
{
	while (t->channels) {
		struct sim_channel *ch = t->channels;

		t->channels = ch->next;
		free(ch->ring);
		free(ch);
	}
}

void sim_model_free(struct sim_model *m)
{
	if (!m)
		return;
	for (unsigned int i = 0; i < m->nengines; i++) {
		while (m->eng[i].first) {
			struct sim_tsg *t = m->eng[i].first;

			m->eng[i].first = t->next;
			free_channels(t);
			free(t);
		}
		sim_round_free(&m->eng[i]);
	}
	free(m->eng);
	free(m);
}

uint64_t sim_model_now(const struct sim_model *m)
{
	return m->now;
}

static struct sim_engine_state *earliest(const struct sim_model *m)
{
	struct sim_engine_state *min = m->eng;

	for (unsigned int i = 1; i < m->nengines; i++)
		if (m->eng[i].next < min->next)
			min = &m->eng[i];
	return min;
}

uint64_t sim_model_next(const struct sim_model *m)
{
	return earliest(m)->next;
}

void sim_model_advance(struct sim_model *m, uint64_t ns)
{
	struct sim_engine_state *e;

	while ((e = earliest(m))->next <= ns) {
		if (e->next > m->now)
			m->now = e->next;
		sim_engine_run(e);
	}
	if (ns > m->now)
		m->now = ns;
}

static struct sim_engine_state *find_engine(struct sim_model *m, unsigned int gpu,
					    unsigned int engine)
{
	if (gpu >= m->gpus)
		return NULL;
	for (unsigned int k = 0; k < m->engines_per_gpu; k++) {
		struct sim_engine_state *e = &m->eng[gpu * m->engines_per_gpu + k];

		if (e->engine == engine)
			return e;
	}
	return NULL;
}

int sim_model_tsg_new(struct sim_model *m, unsigned int gpu, unsigned int engine, void *user,
		      struct sim_tsg **ret)
{
	struct sim_engine_state *e = find_engine(m, gpu, engine);
	struct sim_tsg *t;

	if (!e)
		return -EINVAL;
	t = calloc(1, sizeof(*t));
	if (!t)
		return -ENOMEM;
	t->eng = e;
	t->last_channel = &t->channels;
	t->user = user;
	t->timeslice_us = m->p.default_timeslice_us;
	t->interleave = GPUSCHED_INTERLEAVE_MEDIUM;
	t->mode = m->p.default_preempt_mode;
	t->synced = m->now;
	if (sim_round_add(e, t) < 0) {
		free(t);
		return -ENOMEM;
	}
	*ret = t;
	return 0;
}

void sim_model_tsg_free(struct sim_tsg *t)
{
	if (!t)
		return;
	t->scheduled = false;
	sim_work_update_ready(t);
	sim_engine_forget(t->eng, t);
	sim_round_remove(t->eng, t);
	free_channels(t);
	free(t);
}

int sim_model_channel_new(struct sim_tsg *t, uint32_t context_id, struct sim_channel **ret)
{
	struct sim_channel *ch = calloc(1, sizeof(*ch));

	if (!ch)
		return -ENOMEM;
	ch->tsg = t;
	ch->context_id = context_id;
	ch->enabled = true;
	*t->last_channel = ch;
	t->last_channel = &ch->next;
	*ret = ch;
	return 0;
}

void sim_model_channel_look(struct sim_channel *ch)
{
	sim_work_touch(ch->tsg);
}

void sim_model_channel_free(struct sim_channel *ch)
{
	struct sim_channel **p;
	struct sim_tsg *t;

	if (!ch)
		return;
	t = ch->tsg;
	sim_work_sync(t);
	for (p = &t->channels; *p != ch; p = &(*p)->next)
		;
	*p = ch->next;
	if (!*p)
		t->last_channel = p;
	free(ch->ring);
	free(ch);
	sim_work_touch(t);
}

int sim_model_channel_share(struct sim_channel *ch, unsigned int client, unsigned int priority,
			    unsigned int sm_pct)
{
	uint64_t places = (uint64_t)ch->tsg->eng->m->p.blocks_at_once * sm_pct / 100;

	if (!client || priority > 1 || !places || sm_pct > 100)
		return -EINVAL;
	ch->client = client;
	ch->priority = priority;
	ch->most = places;
	return 0;
}

void *sim_model_tsg_user(const struct sim_tsg *t)
{
	return t->user;
}

struct sim_tsg *sim_model_channel_tsg(const struct sim_channel *ch)
{
	return ch->tsg;
}

int sim_model_tsg_set_timeslice(struct sim_tsg *t, uint64_t us)
{
	if (us < GPUSCHED_TIMESLICE_MIN_US || us > GPUSCHED_TIMESLICE_MAX_US)
		return -EINVAL;
	t->timeslice_us = us;
	if (t->eng->cur == t)
		t->eng->slice_end = 0;
	sim_work_touch(t);
	return 0;
}

int sim_model_tsg_set_interleave(struct sim_tsg *t, unsigned int level)
{
	if (level >= SIM_LEVELS)
		return -EINVAL;
	t->eng->nlevel[t->interleave]--;
	t->interleave = level;
	t->eng->nlevel[level]++;
	t->eng->round_dirty = true;
	return 0;
}

int sim_model_tsg_set_mode(struct sim_tsg *t, unsigned int mode)
{
	if (mode >= SIM_MODES)
		return -EINVAL;
	t->mode = mode;
	return 0;
}

void sim_model_tsg_schedule(struct sim_tsg *t, bool on)
{
	sim_work_sync(t);
	t->scheduled = on;
	sim_work_touch(t);
}

void sim_model_tsg_preempt(struct sim_tsg *t)
{
	for (struct sim_channel *ch = t->channels; ch; ch = ch->next)
		if (ch->leaves)
			sim_work_enable_channel(ch, false);
	if (t->eng->cur != t)
		return;
	t->eng->preempt = true;
	sim_work_touch(t);
}

void sim_model_channel_leave(struct sim_channel *ch)
{
	const struct sim_tsg *t = ch->tsg;

	if (t->eng->nready > t->ready)
		sim_work_enable_channel(ch, false);
	else
		ch->leaves = ch->enabled;
}

void sim_model_tsg_state(const struct sim_tsg *t, struct sim_tsg_state *ret)
{
	struct sim_engine_state *e = t->eng;

	sim_engine_contended(e);
	*ret = (struct sim_tsg_state){
		.timeslice_us = t->timeslice_us,
		.interleave = t->interleave,
		.preempt_mode = t->mode,
		.scheduled = t->scheduled,
		.running = e->cur == t,
		.draining = e->cur == t && e->phase == SIM_PHASE_DRAIN,
		.removed = t->removed,
		.gpu_time_ns = t->gpu_time + (e->cur == t ? e->m->now - e->turn_start : 0),
		.held_ns = t->held + (e->logged == t ? e->m->now - e->logged_since : 0),
		.contended_ns = t->contended + (e->logged == t ? e->contended : 0),
		.contended_told_ns = t->contended_told + (e->logged == t ? e->contended_told : 0),
		.wait_time_ns =
			t->wait_time + (t->ready && e->cur != t ? e->m->now - t->waiting_since : 0),
		.waits = t->waits,
		.cuts = t->cuts,
		.cut_waits = t->cut_waits,
		.cut_wait_ns = t->cut_wait,
		.work_done = t->work_done,
		.switches_in = t->switches_in,
		.context_switches = t->context_switches,
	};
	for (const struct sim_channel *ch = t->channels; ch; ch = ch->next) {
		ret->channels++;
		ret->disabled_channels += !ch->enabled || ch->leaves;
		ret->queued += ch->n;
	}
}
