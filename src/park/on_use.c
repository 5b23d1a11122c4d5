// SPDX-License-Identifier: MIT
#include "park/on_use.h"

#include <utlist.h>

#include "basic/log.h"
#include "park/parking.h"
#include "process/process.h"

enum gs_park_back gs_park_use_back(const struct gs_parking *pk, const struct gs_parked *p)
{
	if (!gs_park_sign_may_return(pk, p))
		return GS_PARK_BACK_WORD;
	return gs_park_sign_of(p) ? GS_PARK_BACK_USE : GS_PARK_BACK_BLIND;
}

/*
 * Only calls after the lock are signs. So we compare with the count at the lock. That count is in
 * parked.json, since the program may call libcuda while no daemon runs.
 */
void gs_park_use_counts(struct gs_parking *pk, int32_t pid, uint64_t start_ns, uint64_t calls)
{
	struct gs_parked *p = pk->all ? gs_parking_find(pk, pid) : NULL;

	if (!p || !gs_process_same(p->start_ns, start_ns))
		return;
	p->counted = true;
	if (p->calls_known && p->core.touched) {
		p->used = p->used || (calls > p->calls && calls > p->calls_seen);
		p->calls_seen = calls;
		return;
	}
	pk->dirty = pk->dirty || !p->calls_known;
	p->calls_known = true;
	p->calls = calls;
}

void gs_park_on_use_beat(void *self)
{
	struct gs_parking *pk = self;
	struct gs_parked *p;

	/* gs_parking_in() may remove other elements, but never @p */
	DL_FOREACH(pk->all, p) {
		if (!p->used || p->over != GS_PARKED_IS_OUT ||
		    gs_park_use_back(pk, p) != GS_PARK_BACK_USE)
			continue;
		p->used = false;
		gs_count(pk->hub, GS_SVC_UNPARKED_ON_USE);
		gs_log(LOG_INFO, "process %d (%s) wants to work again", p->pid, p->comm);
		gs_parking_in(pk, p);
	}
}
