// SPDX-License-Identifier: MIT
#include "top/strip.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "basic/clock.h"

#define TURNS 4096 /* turns kept for all GPUs together: one second with 4,000 switches */
#define MAX_OWED 64

struct where {
	UT_hash_handle hh;
	uint64_t id;
	uint32_t gpu;
};

struct turn {
	uint64_t id, from, to;
	uint32_t gpu;
};

struct gs_strip {
	struct where *tsgs;
	struct turn turns[TURNS];
	size_t at;
	struct turn open[64]; /* turns that have not ended */
	size_t nopen;
	uint64_t now;
};

static const struct where *where_is(const struct gs_strip *s, uint64_t id)
{
	struct where *w = NULL;

	HASH_FIND(hh, s->tsgs, &id, sizeof(id), w);
	return w;
}

static uint64_t element(const json_t *list, size_t i)
{
	return (uint64_t)json_integer_value(json_array_get(list, i));
}

static void take_tsg(struct gs_strip *s, const json_t *line)
{
	uint64_t id = (uint64_t)json_integer_value(json_object_get(line, "id"));
	struct where *w = (struct where *)where_is(s, id);

	if (!w) {
		w = calloc(1, sizeof(*w));
		if (!w)
			return;
		w->id = id;
		HASH_ADD(hh, s->tsgs, id, sizeof(w->id), w);
	}
	w->gpu = (uint32_t)json_integer_value(json_object_get(line, "gpu"));
}

static bool read_turn(struct gs_strip *s, const json_t *turn, struct turn *ret)
{
	const struct where *w = where_is(s, element(turn, 0));

	*ret = (struct turn){ element(turn, 0), element(turn, 1), element(turn, 2), 0 };
	if (!w)
		return false;
	ret->gpu = w->gpu;
	if (ret->to > s->now)
		s->now = ret->to;
	return true;
}

static void forget_tsg(struct gs_strip *s, const json_t *line)
{
	uint64_t id = (uint64_t)json_integer_value(json_object_get(line, "id"));
	struct where *w = (struct where *)where_is(s, id);

	if (!w)
		return;
	HASH_DEL(s->tsgs, w);
	free(w);
}

void gs_strip_line(struct gs_strip *s, const json_t *line)
{
	const char *event = json_string_value(json_object_get(line, "event"));
	const json_t *turn;
	size_t i;

	if (event && !strcmp(event, "tsg"))
		take_tsg(s, line);
	else if (event && !strcmp(event, "tsg-free"))
		forget_tsg(s, line);
	else if (event && !strcmp(event, "turns"))
		json_array_foreach(json_object_get(line, "turns"), i, turn)
			s->at += read_turn(s, turn, &s->turns[s->at % TURNS]);
	else if (event && !strcmp(event, "counters")) {
		s->nopen = 0;
		json_array_foreach(json_object_get(line, "open"), i, turn)
			if (s->nopen < sizeof(s->open) / sizeof(*s->open))
				s->nopen += read_turn(s, turn, &s->open[s->nopen]);
	}
}

/* ---- reading --------------------------------------------------------------------------------- */

/* A TSG, and GPU time of it that no part shows yet; negative: parts show more than it had. */
struct owed {
	uint64_t id;
	int64_t ns;
	uint64_t in_part; /* its GPU time in the part being computed */
};

struct parts {
	struct owed owed[MAX_OWED]; /* entry 0 stands for idle time (no TSG) */
	size_t n;
};

static struct owed *owed_of(struct parts *p, uint64_t id)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->owed[i].id == id)
			return &p->owed[i];
	if (p->n == MAX_OWED)
		return NULL;
	p->owed[p->n] = (struct owed){ .id = id };
	return &p->owed[p->n++];
}

static uint64_t common(const struct turn *t, uint64_t from, uint64_t to)
{
	uint64_t a = t->from > from ? t->from : from, b = t->to < to ? t->to : to;

	return b > a ? b - a : 0;
}

/*
 * Picks the TSG to show for a part, which may contain many turns. It is the one with the most GPU
 * time that no part represents yet. So the number of parts of each TSG matches its time.
 */
static uint64_t show(struct parts *p, uint64_t each)
{
	struct owed *most = &p->owed[0];
	uint64_t held = 0;

	for (size_t i = 1; i < p->n; i++)
		held += p->owed[i].in_part;
	p->owed[0].in_part = held < each ? each - held : 0;
	for (size_t i = 0; i < p->n; i++)
		p->owed[i].ns += (int64_t)p->owed[i].in_part;
	for (size_t i = 1; i < p->n; i++)
		if (p->owed[i].in_part && (!most->in_part || p->owed[i].ns > most->ns))
			most = &p->owed[i];
	most->ns -= (int64_t)each;
	for (size_t i = 0; i < p->n; i++)
		p->owed[i].in_part = 0;
	return most->id;
}

static const struct turn *turn_at(const struct gs_strip *s, size_t i)
{
	size_t kept = s->at < TURNS ? s->at : TURNS;

	return i < kept              ? &s->turns[(s->at - kept + i) % TURNS]
	       : i < kept + s->nopen ? &s->open[i - kept]
				     : NULL;
}

int gs_strip_read(const struct gs_strip *s, uint32_t gpu, uint64_t *ids, size_t n)
{
	uint64_t begin = s->now > NS_PER_S ? s->now - NS_PER_S : 0, each = NS_PER_S / n;
	struct parts p = { .n = 1 };
	const struct turn *t;
	bool seen = false;

	for (size_t part = 0; part < n; part++) {
		uint64_t from = begin + part * each;

		for (size_t i = 0; (t = turn_at(s, i)); i++) {
			uint64_t ns = t->gpu == gpu ? common(t, from, from + each) : 0;
			struct owed *o = ns ? owed_of(&p, t->id) : NULL;

			if (o)
				o->in_part += ns;
			seen |= ns > 0;
		}
		ids[part] = show(&p, each);
	}
	return seen ? 0 : -ENODATA;
}

int gs_strip_new(struct gs_strip **ret)
{
	struct gs_strip *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	*ret = s;
	return 0;
}

void gs_strip_free(struct gs_strip *s)
{
	struct where *w, *next;

	if (!s)
		return;
	HASH_ITER(hh, s->tsgs, w, next) {
		HASH_DEL(s->tsgs, w);
		free(w);
	}
	free(s);
}
