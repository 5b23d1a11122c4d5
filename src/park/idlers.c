// SPDX-License-Identifier: MIT
#include "park/idlers.h"

#include <stdlib.h>
#include <utlist.h>

#include "basic/clock.h"
#include "basic/log.h"
#include "engine/aside.h"
#include "park/parking.h"
#include "process/process.h"

struct gs_process *gs_park_idler_process(const struct gs_parking *pk, int32_t pid,
					 uint64_t start_ns)
{
	struct gs_process *p = gs_processes_find(pk->hub, pid);
	bool same = p && gs_process_still(0, p->start_ns, start_ns) == GS_STILL_YES;

	return same ? p : NULL;
}

struct gs_park_idler *gs_park_idler_find(const struct gs_parking *pk, int32_t pid,
					 uint64_t start_ns)
{
	const struct gs_process *p = gs_park_idler_process(pk, pid, start_ns);

	return p ? p->of[GS_PROCESS_IDLER] : NULL;
}

static void forget_idler(struct gs_parking *pk, struct gs_park_idler *i)
{
	i->process->of[GS_PROCESS_IDLER] = NULL;
	DL_DELETE(pk->idlers, i);
	free(i);
}

struct gs_park_idler *gs_park_idler_remember(struct gs_parking *pk, const struct gpusched_tsg *rec)
{
	const struct gs_process_who who = { (pid_t)rec->task.pid, rec->task.uid,
					    rec->owner_start_ns, rec->task.comm };
	struct gs_process *p = gs_processes_meet(pk->hub, &who);
	struct gs_park_idler *i = p ? p->of[GS_PROCESS_IDLER] : NULL;

	if (p && !i) {
		i = calloc(1, sizeof(*i));
		if (!i)
			return NULL;
		i->process = p;
		p->of[GS_PROCESS_IDLER] = i;
		DL_APPEND(pk->idlers, i);
	}
	if (i)
		i->tsg = rec->task.id;
	return i;
}

void gs_park_idler_process_ended(void *self, struct gs_process *p)
{
	if (p->of[GS_PROCESS_IDLER])
		forget_idler(self, p->of[GS_PROCESS_IDLER]);
	p->of[GS_PROCESS_UNFIT] = NULL;
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
	gs_park_again_came_back(&i->again, &back);
	if (!gs_park_again_in_vain(&i->again) || i->told_ns)
		return;
	i->told_ns = gs_now_ns();
	gs_log(LOG_NOTICE,
	       "process %d (%s) is not parked by itself any more: twice it was wanted back at once",
	       i->process->pid, i->process->comm);
}

void gs_park_idlers_free(struct gs_parking *pk)
{
	struct gs_park_idler *i, *next;

	DL_FOREACH_SAFE(pk->idlers, i, next)
		forget_idler(pk, i);
}
