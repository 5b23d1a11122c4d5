// SPDX-License-Identifier: MIT
#include "means/starts.h"

#include "basic/clock.h"

static bool is_same(const struct gs_start *a, const struct gs_start *b)
{
	return a->ns && a->pid == b->pid && a->start_ns == b->start_ns;
}

/*
 * The process's own place, else the user's oldest if the user has enough, else the oldest of all.
 */
static struct gs_start *place_of(struct gs_starts *s, const struct gs_start *start)
{
	struct gs_start *oldest = &s->last[0], *own = NULL;
	unsigned int n = 0;

	for (unsigned int i = 0; i < GS_STARTS; i++) {
		struct gs_start *o = &s->last[i];

		if (is_same(o, start))
			return o;
		if (o->ns < oldest->ns)
			oldest = o;
		if (!o->ns || o->uid != start->uid)
			continue;
		n++;
		if (!own || o->ns < own->ns)
			own = o;
	}
	return n >= GS_STARTS_USER ? own : oldest;
}

void gs_starts_add(struct gs_starts *s, const struct gs_start *start)
{
	if (start->start_ns)
		*place_of(s, start) = *start;
}

bool gs_starts_has(const struct gs_starts *s, uid_t uid, enum gs_role role, bool share,
		   uint64_t now_ns, gs_lives_fn lives)
{
	for (unsigned int i = 0; i < GS_STARTS; i++) {
		const struct gs_start *o = &s->last[i];

		if (o->ns && o->uid == uid && o->role == role && o->share == share &&
		    now_ns - o->ns < GS_STARTS_S * NS_PER_S && lives(o->pid, o->start_ns))
			return true;
	}
	return false;
}
