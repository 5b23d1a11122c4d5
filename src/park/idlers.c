// SPDX-License-Identifier: MIT
#include "park/idlers.h"

#include <stdio.h>
#include <stdlib.h>
#include <utlist.h>

#include "basic/clock.h"
#include "basic/log.h"
#include "engine/aside.h"
#include "park/parking.h"
#include "table/started.h"

#define IDLERS_MAX 1024u

struct gs_park_idler *gs_park_idler_find(const struct gs_parking *pk, int32_t pid,
					 uint64_t start_ns)
{
	struct gs_park_idler *i;

	DL_FOREACH(pk->idlers, i)
		if (i->pid == pid && i->start_ns == start_ns)
			return i;
	return NULL;
}

static void forget(struct gs_parking *pk, struct gs_park_idler *i)
{
	DL_DELETE(pk->idlers, i);
	pk->nidlers--;
	free(i);
}

struct gs_park_idler *gs_park_idler_remember(struct gs_parking *pk, const struct gpusched_tsg *rec)
{
	struct gs_park_idler *i =
		gs_park_idler_find(pk, (int32_t)rec->task.pid, rec->owner_start_ns);

	if (!i) {
		i = pk->nidlers < IDLERS_MAX ? calloc(1, sizeof(*i)) : NULL;
		if (!i)
			return NULL;
		i->pid = (int32_t)rec->task.pid;
		i->start_ns = rec->owner_start_ns;
		i->uid = rec->task.uid;
		snprintf(i->comm, sizeof(i->comm), "%.*s", GPUSCHED_COMM_LEN, rec->task.comm);
		DL_APPEND(pk->idlers, i);
		pk->nidlers++;
	}
	i->tsg = rec->task.id;
	return i;
}

void gs_park_idlers_tend(struct gs_parking *pk)
{
	struct gs_park_idler *i, *next;

	DL_FOREACH_SAFE(pk->idlers, i, next)
		if (gs_started_still(i->pid, i->start_ns) == GS_STILL_NO)
			forget(pk, i);
}

void gs_park_idler_back(struct gs_parking *pk, const struct gs_parked *p)
{
	struct gs_park_idler *i = gs_park_idler_find(pk, p->pid, p->start_ns);
	const struct gs_park_return back = { p->since_ns, p->wanted_ns, p->restore_ns };

	if (!i)
		return;
	if (!p->since_ns) { /* its parking failed */
		i->again.not_before_ns = gs_now_ns() + GS_PARK_FAILED_NS;
		if (!p->by_policy)
			gs_count(pk->hub, GS_SVC_PARK_IDLE_LEFT);
		else if (p->ntsgs && pk->hub->engine)
			gs_engine_park_refused(pk->hub->engine, &p->tsgs[0]);
		return;
	}
	gs_park_came_back(&i->again, &back);
	if (!gs_park_in_vain(&i->again) || i->told_ns)
		return;
	i->told_ns = gs_now_ns();
	gs_log(LOG_NOTICE,
	       "process %d (%s) is not parked by itself any more: twice it was wanted back at once",
	       i->pid, i->comm);
}

void gs_park_idlers_free(struct gs_parking *pk)
{
	struct gs_park_idler *i, *next;

	DL_FOREACH_SAFE(pk->idlers, i, next)
		forget(pk, i);
}
