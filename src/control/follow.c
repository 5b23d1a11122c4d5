// SPDX-License-Identifier: MIT
/*
 * The TSGs of a parked process end, and it makes new TSGs when it comes back. The n-th new TSG of
 * an engine gets the settings that the n-th old TSG of that engine had. A suspension does not
 * follow: parking ends it.
 */
#include "control/follow.h"

#include "basic/log.h"
#include "control/control.h"
#include "engine/engine.h"
#include "hub/records.h"
#include "park/parking.h"
#include "process/process.h"

void gs_follow_ended(void *self, const struct gs_end *end)
{
	struct gs_control *ctl = self;
	struct gs_saved_tsg *t = gs_saved_find(&ctl->saved, end->id);
	const struct gs_gpu *gpu = NULL;
	struct gpusched_tsg rec;

	if (!t || t->pending)
		return;
	if (gs_parking_find(ctl->parking, (int32_t)end->pid) &&
	    !gs_table_get(ctl->hub->table, &end->key, &rec))
		gpu = gs_record_gpu(ctl->hub, &rec);
	t->set.valid &= ~GPUSCHED_RUNNABLE;
	if (!t->set.valid || !gpu) {
		gs_saved_drop(&ctl->saved, t);
		return;
	}
	t->pending = t->away = true;
	t->engine = rec.task.engine;
	t->gpu = gpu->index;
	ctl->saved.naway++;
	ctl->saved.dirty = true;
}

static struct gs_saved_tsg *find(struct gs_control *ctl, const struct gpusched_tsg *rec)
{
	const struct gs_gpu *gpu = gs_record_gpu(ctl->hub, rec);

	for (size_t i = 0; gpu && i < ctl->saved.ntsgs; i++) {
		struct gs_saved_tsg *t = &ctl->saved.tsgs[i];

		if (t->away && t->pid == rec->task.pid && t->id < rec->task.id &&
		    t->engine == rec->task.engine && t->gpu == gpu->index &&
		    gs_process_same(t->start_ns, rec->owner_start_ns))
			return t;
	}
	return NULL;
}

static int set(struct gs_control *ctl, const struct gs_saved_tsg *t, const struct gpusched_key *key,
	       struct gs_error *err)
{
	struct gpusched_settings root = t->set, user = t->set;
	int r;

	user.valid &= t->users;
	root.valid &= ~t->users;
	r = root.valid ? gs_engine_set_manual(ctl->hub->engine, key, &root, 0, 0, err) : 0;
	return r || !user.valid
		       ? r
		       : gs_engine_set_manual(ctl->hub->engine, key, &user, 0, t->uid, err);
}

void gs_follow_record(void *self, const struct gpusched_tsg *rec)
{
	struct gs_control *ctl = self;
	struct gs_error err = { 0 };
	struct gs_saved_tsg *t;

	if (!ctl->saved.naway || !ctl->hub->engine || rec->flags & GPUSCHED_TSG_GONE ||
	    gs_saved_find(&ctl->saved, rec->task.id))
		return;
	t = find(ctl, rec);
	if (!t)
		return;
	t = gs_saved_rename(&ctl->saved, t, rec->task.id);
	t->key = rec->key;
	t->away = t->pending = false;
	ctl->saved.naway--;
	ctl->saved.dirty = true;
	if (set(ctl, t, &rec->key, &err))
		gs_log(LOG_NOTICE, "process %u does not get back what was set for it: %s",
		       rec->task.pid, err.text);
}
