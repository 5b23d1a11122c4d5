/* SPDX-License-Identifier: MIT */
/*
 * model_round.c - orders the turns of a runlist's TSGs, in rounds
 *
 * A plain round is in order of creation. With interleave levels, all MEDIUM entries come before
 * each LOW entry, and all HIGH entries come before each MEDIUM and each LOW entry. So with L low
 * and M medium TSGs, a medium one appears L times and a high one (M + 1) * L times. An empty level
 * counts as if it had one entry that is never ready.
 */
#include <errno.h>
#include <stdlib.h>

#include "sim/model_priv.h"

int sim_round_add(struct sim_engine_state *e, struct sim_tsg *t)
{
	unsigned int total = e->nlevel[0] + e->nlevel[1] + e->nlevel[2] + 1;

	if (total > e->cap_level) {
		unsigned int cap = e->cap_level ? 2 * e->cap_level : 16;

		for (int l = 0; l < SIM_LEVELS; l++) {
			struct sim_tsg **p = reallocarray(e->level[l], cap, sizeof(*p));

			if (!p)
				return -ENOMEM;
			e->level[l] = p;
		}
		e->cap_level = cap;
	}
	t->prev = e->last;
	t->next = NULL;
	if (e->last)
		e->last->next = t;
	else
		e->first = t;
	e->last = t;
	e->nlevel[t->interleave]++;
	e->round_dirty = true;
	return 0;
}

void sim_round_remove(struct sim_engine_state *e, struct sim_tsg *t)
{
	if (e->prev_turn == t)
		e->prev_turn = t->prev; /* NULL: the round begins anew */
	if (t->prev)
		t->prev->next = t->next;
	else
		e->first = t->next;
	if (t->next)
		t->next->prev = t->prev;
	else
		e->last = t->prev;
	e->nlevel[t->interleave]--;
	e->round_dirty = true;
}

void sim_round_free(struct sim_engine_state *e)
{
	for (int l = 0; l < SIM_LEVELS; l++)
		free(e->level[l]);
}

static struct sim_tsg *next_plain(struct sim_engine_state *e)
{
	struct sim_tsg *from = e->prev_turn ? e->prev_turn->next : e->first;

	for (struct sim_tsg *t = from; t; t = t->next)
		if (t->ready)
			return t;
	for (struct sim_tsg *t = e->first; t != from; t = t->next)
		if (t->ready)
			return t;
	return NULL;
}

static void rebuild(struct sim_engine_state *e)
{
	for (int l = 0; l < SIM_LEVELS; l++) {
		e->nlevel[l] = 0;
		e->pos[l] = 0;
	}
	for (struct sim_tsg *t = e->first; t; t = t->next)
		e->level[t->interleave][e->nlevel[t->interleave]++] = t;
	e->round_dirty = false;
}

static bool any_ready(const struct sim_engine_state *e, int level)
{
	for (unsigned int i = 0; i < e->nlevel[level]; i++)
		if (e->level[level][i]->ready)
			return true;
	return false;
}

/*
 * Goes one step on in the round. Three indices are the place in it. pos[HIGH] counts within the
 * present run of high entries. After this run comes medium entry pos[MEDIUM]. When all medium
 * entries have come, low entry pos[LOW] follows instead.
 */
static struct sim_tsg *step(struct sim_engine_state *e, const bool ready[SIM_LEVELS])
{
	struct sim_tsg *t;

	while (ready[2] && e->pos[2] < e->nlevel[2]) {
		t = e->level[2][e->pos[2]++];
		if (t->ready)
			return t;
	}
	if (!ready[1] && !ready[2])
		e->pos[1] = e->nlevel[1];
	e->pos[2] = 0;
	if (e->pos[1] < e->nlevel[1]) {
		t = e->level[1][e->pos[1]++];
		return t->ready ? t : NULL;
	}
	e->pos[1] = 0;
	if (e->pos[0] >= e->nlevel[0])
		e->pos[0] = 0;
	t = e->nlevel[0] ? e->level[0][e->pos[0]++] : NULL;
	return t && t->ready ? t : NULL;
}

static struct sim_tsg *next_interleaved(struct sim_engine_state *e)
{
	bool ready[SIM_LEVELS];
	struct sim_tsg *t;

	if (e->round_dirty)
		rebuild(e);
	for (int l = 0; l < SIM_LEVELS; l++)
		ready[l] = any_ready(e, l);
	do {
		t = step(e, ready);
	} while (!t);
	return t;
}

/* Chooses the TSG of the next turn, and moves on in the round. NULL: no TSG is ready. */
struct sim_tsg *sim_round_next(struct sim_engine_state *e)
{
	struct sim_tsg *t;

	if (!e->nready)
		return NULL;
	t = e->m->p.interleave_honoured ? next_interleaved(e) : next_plain(e);
	e->prev_turn = t;
	return t;
}
