// SPDX-License-Identifier: MIT
#include "means/starts.h"

#include "basic/clock.h"
#include "process/process.h"

void gs_starts_add(struct gs_starts *s, const struct gs_start *start)
{
	if (!start->start_ns)
		return;
	s->last[s->at] = *start;
	s->at = (s->at + 1) % GS_STARTS;
}

bool gs_starts_has(const struct gs_starts *s, const uid_t *uid, enum gs_role role, bool share,
		   uint64_t now_ns)
{
	for (unsigned int i = 0; i < GS_STARTS; i++) {
		const struct gs_start *o = &s->last[i];

		if (o->ns && o->role == role && o->share == share && (!uid || o->uid == *uid) &&
		    now_ns - o->ns < GS_STARTS_S * NS_PER_S &&
		    gs_proc_start_ns(o->pid) == o->start_ns)
			return true;
	}
	return false;
}
