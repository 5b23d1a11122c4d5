// SPDX-License-Identifier: MIT
/* Restores everything to what the owners asked for, in an instance that goes on afterwards. */
#include "control/restoring.h"

#include <errno.h>
#include <string.h>

#include "basic/cleanup.h"
#include "classify/words.h"
#include "hub/task.h"
#include "control/control.h"
#include "engine/settled.h"
#include "engine/restore.h"

static void restoring_work(struct gs_task *e)
{
	struct gs_restoring *t = (struct gs_restoring *)e;

	t->code = gs_restore(e->hub->table, e->hub->branch, &t->done, &t->err);
}

/* Has the engine forget the slices of pods' claims, which it would otherwise set again. */
static void drop_pod_slices(struct gs_hub *hub)
{
	const struct gs_settled none = { .sliced = true };
	CLEANUP_FREE struct gpusched_tsg *recs = NULL;
	size_t n = 0;

	if (gs_table_all(hub->table, &recs, &n))
		return;
	for (size_t i = 0; i < n; i++)
		if (recs[i].task.kind == GPUSCHED_KIND_COMPUTE)
			gs_engine_settled(hub->engine, &recs[i].key, &none);
}

/*
 * Compares all TSGs again: wishes may have come meanwhile, and calls that were under way have
 * results.
 */
static void restoring_end(struct gs_task *e)
{
	struct gs_control *ctl = e->owner;

	ctl->restoring = NULL;
	if (!ctl->hub->engine)
		return;
	sd_event_source_set_enabled(ctl->hub->results, SD_EVENT_ON);
	drop_pod_slices(ctl->hub);
	gs_engine_touch_all(ctl->hub->engine);
	gs_observers_restored(&ctl->hub->observers);
}

static void restoring_free(struct gs_task *e)
{
	free((struct gs_restoring *)e);
}

int gs_restoring_begin(struct gs_control *ctl, struct gs_restoring **ret, struct gs_error *err)
{
	struct gs_restoring *t = ctl->restoring;
	int r;

	if (t) {
		t->task.refs++;
		*ret = t;
		return 0;
	}
	t = calloc(1, sizeof(*t));
	if (!t)
		return gs_fail(err, -ENOMEM, "out of memory");
	t->task = (struct gs_task){ restoring_work, restoring_end, restoring_free };
	r = gs_task_begin(&t->task, ctl->hub, ctl);
	if (r < 0) {
		gs_task_unref(&t->task);
		return gs_fail(err, r, "nothing can be put back now: %s", strerror(-r));
	}
	if (ctl->hub->engine) /* on results, the engine would make the restore's calls again */
		sd_event_source_set_enabled(ctl->hub->results, SD_EVENT_OFF);
	gs_words_no_slices(ctl->hub->classes, "a restore");
	ctl->restoring = *ret = t;
	return 0;
}
