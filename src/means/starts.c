// SPDX-License-Identifier: MIT
#include "means/starts.h"

#include <stdlib.h>
#include <utlist.h>

#include "basic/clock.h"
#include "basic/share.h"
#include "basic/user_limits.h"

static void drop_start(struct gs_starts *s, struct gs_start *o)
{
	o->process->of[GS_PROCESS_START] = NULL;
	DL_DELETE(s->all, o);
	free(o);
}

static bool is_old(const struct gs_start *o, uint64_t now_ns)
{
	return now_ns - o->ns >= GS_STARTS_S * NS_PER_S;
}

static unsigned int count_of(const struct gs_starts *s, uid_t uid)
{
	const struct gs_start *o;
	unsigned int n = 0;

	DL_FOREACH(s->all, o)
		n += o->uid == uid;
	return n;
}

/* Returns the user with most starts that may lose one to @uid. */
static uid_t richest(const struct gs_starts *s, uid_t uid)
{
	unsigned int n, most = 0;
	const struct gs_start *o;
	uid_t ret = uid;

	DL_FOREACH(s->all, o) {
		n = count_of(s, o->uid);
		if (n > most && (!uid || gs_share_yields(o->uid, n, GS_STARTS))) {
			most = n;
			ret = o->uid;
		}
	}
	return ret;
}

static void drop_oldest(struct gs_starts *s, uid_t uid)
{
	struct gs_start *o, *next;

	DL_FOREACH_SAFE(s->all, o, next) {
		if (o->uid != uid)
			continue;
		drop_start(s, o);
		return;
	}
}

/* Drops the oldest start of @uid if it has enough of them, or else of the user with most. */
static void make_room(struct gs_starts *s, uid_t uid)
{
	unsigned int n = 0, own = count_of(s, uid);
	const struct gs_start *o;

	DL_COUNT(s->all, o, n);
	if (own >= GS_USER_MAY_STARTS)
		drop_oldest(s, uid);
	else if (!gs_share_allows(uid, own, n, GS_STARTS))
		drop_oldest(s, richest(s, uid));
}

void gs_starts_add(struct gs_starts *s, struct gs_process *p, const struct gs_start *start)
{
	struct gs_start *o;

	gs_starts_drop_of(s, p);
	make_room(s, start->uid);
	o = malloc(sizeof(*o));
	if (!o)
		return;
	*o = *start;
	o->process = p;
	p->of[GS_PROCESS_START] = o;
	DL_APPEND(s->all, o);
}

bool gs_starts_has(const struct gs_starts *s, uid_t uid, enum gs_role role, bool share,
		   uint64_t now_ns)
{
	const struct gs_start *o;

	DL_FOREACH(s->all, o)
		if (o->uid == uid && o->role == role && o->share == share && !is_old(o, now_ns))
			return true;
	return false;
}

void gs_starts_drop_old(struct gs_starts *s, uint64_t now_ns)
{
	while (s->all && is_old(s->all, now_ns))
		drop_start(s, s->all);
}

void gs_starts_drop_of(struct gs_starts *s, struct gs_process *p)
{
	if (p->of[GS_PROCESS_START])
		drop_start(s, p->of[GS_PROCESS_START]);
}

void gs_starts_done(struct gs_starts *s)
{
	while (s->all)
		drop_start(s, s->all);
}
