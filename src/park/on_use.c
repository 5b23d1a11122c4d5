// SPDX-License-Identifier: MIT
#include "park/on_use.h"

#include <string.h>
#include <utlist.h>

#include "basic/log.h"
#include "classify/classify.h"
#include "config/config.h"
#include "park/parking.h"
#include "process/process.h"

static bool is_asked_for(const struct gs_parking *pk, uint32_t class_id)
{
	const struct gs_texts *names = &pk->hub->config->unpark_on_use;
	const char *name = gs_class_name(pk->hub->classes, class_id);

	for (size_t i = 0; name && i < names->n; i++)
		if (!strcmp(names->text[i], name))
			return true;
	return false;
}

/* A program's word does not undo what root has done, and takes no other one's room. */
static bool may_come_back(const struct gs_parked *p)
{
	return !p->guest && (p->by_itself || p->by == p->uid);
}

enum gs_park_back gs_park_back_of(const struct gs_parking *pk, const struct gs_parked *p)
{
	if (!may_come_back(p) || !is_asked_for(pk, p->class_id))
		return GS_PARK_BACK_WORD;
	return p->counted ? GS_PARK_BACK_USE : GS_PARK_BACK_BLIND;
}

/* A launch before it was locked was done before that. */
static bool is_running(const struct gs_parked *p)
{
	return p->over == GS_PARKED_UNDER_WAY && (!p->core.known || p->core.is == GS_PARK_RUNNING);
}

void gs_park_agent_counts(struct gs_parking *pk, int32_t pid, uint64_t start_ns, bool more)
{
	struct gs_parked *p = pk->all ? gs_parking_find(pk, pid) : NULL;

	if (!p || !gs_start_same(p->start_ns, start_ns))
		return;
	p->counted = true;
	p->used = p->used || (more && !is_running(p));
}

void gs_park_on_use_beat(void *self)
{
	struct gs_parking *pk = self;
	struct gs_parked *p;

	/* gs_parking_in() may remove others, but not this one */
	DL_FOREACH(pk->all, p) {
		if (!p->used || p->over != GS_PARKED_IS_OUT ||
		    gs_park_back_of(pk, p) != GS_PARK_BACK_USE)
			continue;
		p->used = false;
		gs_count(pk->hub, GS_SVC_UNPARKED_ON_USE);
		gs_log(LOG_INFO, "process %d (%s) wants to work again", p->pid, p->comm);
		gs_parking_in(pk, p);
	}
}
