// SPDX-License-Identifier: MIT
#include "intake/promises.h"

#include <errno.h>
#include <stdlib.h>

static struct gs_promise_group *group_of(struct gs_promises *p, const struct gs_promise_wish *w)
{
	struct gs_promise_key key = { .group = w->group, .runlist = w->runlist };
	struct gs_promise_group *g;

	HASH_FIND(hh, p->groups, &key, sizeof(key), g);
	if (g)
		return g;
	g = calloc(1, sizeof(*g));
	if (!g)
		return NULL;
	g->key = key;
	g->came_ns = UINT64_MAX;
	g->pid = w->pid;
	g->uid = w->uid;
	HASH_ADD(hh, p->groups, key, sizeof(g->key), g);
	return g;
}

static void leave(struct gs_promises *p, struct gs_promise_tsg *t)
{
	if (t->group && !--t->group->tsgs) {
		HASH_DEL(p->groups, t->group);
		free(t->group);
	}
	t->group = NULL;
}

void gs_promises_free(struct gs_promises *p)
{
	struct gs_promise_tsg *t, *next;

	HASH_ITER(hh, p->tsgs, t, next) {
		HASH_DEL(p->tsgs, t);
		leave(p, t);
		free(t);
	}
}

/*
 * A group that enlarges its request loses what it has until the next settling: it must not take
 * from others.
 */
static void request(struct gs_promise_group *g, const struct gs_promise_wish *w, int *news)
{
	if (w->pct != g->pct || w->start_ns < g->came_ns)
		*news = 1;
	if (w->pct > g->pct)
		g->has = false;
	g->pct = w->pct;
	if (w->start_ns < g->came_ns)
		g->came_ns = w->start_ns;
}

int gs_promises_put(struct gs_promises *p, const struct gs_promise_wish *w)
{
	struct gs_promise_group *g = group_of(p, w);
	struct gs_promise_tsg *t;
	int news = 0;

	HASH_FIND(hh, p->tsgs, &w->id, sizeof(w->id), t);
	if (g && !t) {
		t = calloc(1, sizeof(*t));
		if (t) {
			t->id = w->id;
			HASH_ADD(hh, p->tsgs, id, sizeof(t->id), t);
		}
	}
	if (!g || !t) {
		if (g && !g->tsgs) {
			HASH_DEL(p->groups, g);
			free(g);
		}
		return -ENOMEM;
	}
	if (t->group != g) {
		news = t->group != NULL; /* the group that the TSG left may have freed a part */
		leave(p, t);
		t->group = g;
		g->tsgs++;
	}
	request(g, w, &news);
	return news;
}

bool gs_promises_drop(struct gs_promises *p, uint64_t id)
{
	struct gs_promise_tsg *t;

	HASH_FIND(hh, p->tsgs, &id, sizeof(id), t);
	if (!t)
		return false;
	HASH_DEL(p->tsgs, t);
	leave(p, t);
	free(t);
	return true;
}

static int in_order(const struct gs_promise_group *a, const struct gs_promise_group *b)
{
	if (a->key.runlist != b->key.runlist)
		return a->key.runlist < b->key.runlist ? -1 : 1;
	if (a->has != b->has)
		return a->has ? -1 : 1;
	if (a->came_ns != b->came_ns)
		return a->came_ns < b->came_ns ? -1 : 1;
	return a->key.group < b->key.group ? -1 : a->key.group > b->key.group;
}

void gs_promises_settle(struct gs_promises *p, bool by_start)
{
	struct gs_promise_group *g, *next;
	const struct gs_promise_group *last = NULL;
	uint32_t sum = 0;

	HASH_ITER(hh, p->groups, g, next)
		if (by_start)
			g->has = false;
	HASH_SORT(p->groups, in_order);
	HASH_ITER(hh, p->groups, g, next) {
		uint32_t over = g->over_pct;

		if (!last || last->key.runlist != g->key.runlist)
			sum = p->reserved_pct;
		last = g;
		g->has = sum + g->pct <= 100;
		g->over_pct = g->has ? 0 : sum + g->pct;
		sum += g->has ? g->pct : 0;
		g->changed |= g->over_pct != over;
	}
}
