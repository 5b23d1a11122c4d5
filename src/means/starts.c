// SPDX-License-Identifier: MIT
#include "means/starts.h"

#include <stdlib.h>
#include <utlist.h>

#include "basic/clock.h"
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

/* Makes room: drops the user's oldest if the user has enough, else the oldest if there are enough. */
static void make_room(struct gs_starts *s, uid_t uid)
{
	struct gs_start *o, *own = NULL;
	unsigned int n = 0, of_user = 0;

	DL_FOREACH(s->all, o) {
		n++;
		of_user += o->uid == uid;
		own = own || o->uid != uid ? own : o;
	}
	if (of_user >= GS_USER_MAY_STARTS)
		drop_start(s, own);
	else if (n >= GS_STARTS)
		drop_start(s, s->all);
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
