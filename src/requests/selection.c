// SPDX-License-Identifier: MIT
/* selection.c - picks the table's records that match a request's target, with GPU and class */
#include "requests/selection.h"

#include <string.h>

#include "basic/cleanup.h"
#include "process/reader.h"
#include "requests/requests.h"
#include "hub/records.h"
#include "intake/settle.h"

/* Fills in the GPU, and facts that only a daemon writes into the table if no daemon runs. */
static void complete(struct gs_requests *rs, struct gpusched_tsg *rec)
{
	const struct gs_gpu *gpu = gs_record_gpu(rs->hub, rec);
	struct gs_class_answer answer;

	rec->task.gpu = gpu ? gpu->index : GPUSCHED_GPU_UNKNOWN;
	if (rs->hub->opts.daemon)
		return;
	if (gs_record_calls_itself_mps(rec) && gs_reader_is_mps((pid_t)rec->task.pid))
		rec->flags |= GPUSCHED_TSG_MPS;
	if (rec->task.class_id == GPUSCHED_CLASS_NONE &&
	    !gs_record_classify(rs->hub, (pid_t)rec->task.pid, &answer))
		rec->task.class_id = answer.class_id;
}

static int by_id(const void *a, const void *b)
{
	uint64_t x = ((const struct gpusched_tsg *)a)->task.id;
	uint64_t y = ((const struct gpusched_tsg *)b)->task.id;

	return x < y ? -1 : x > y;
}

/* Reads all of the table's records, sorted by id. */
static int read_all(struct gs_requests *rs, struct gpusched_tsg **ret, size_t *ret_n,
		    struct gs_error *err)
{
	int r = gs_table_all(rs->hub->table, ret, ret_n);

	memset(rs->hub->asked, 0,
	       sizeof(rs->hub->asked)); /* drop cached classes: they may have changed since */
	if (r)
		return gs_fail(err, r, "the table of TSGs cannot be read: %s", strerror(-r));
	qsort(*ret, *ret_n, sizeof(**ret), by_id);
	return 0;
}

/* Completes a record, and returns true if the target matches it. */
static bool matches(struct gs_requests *rs, const struct gs_view *view,
		    const struct gs_target *target, struct gpusched_tsg *inout_rec)
{
	if (inout_rec->flags & GPUSCHED_TSG_GONE ||
	    (view && !gs_view_finds(view, target, inout_rec)))
		return false;
	complete(rs, inout_rec);
	if (gs_target_has(target, GS_TARGET_CGROUP))
		gs_settle_cgroup(rs->intake, inout_rec);
	return gs_target_match(target, inout_rec,
			       gs_target_has(target, GS_TARGET_TID)
				       ? gs_table_maker(rs->hub->table, inout_rec).tid
				       : 0);
}

void gs_selection_free(struct gs_selection *l)
{
	free(l->recs);
}

/* Gives back unused memory: a selection may live long, until all of its calls have returned. */
static void shrink(struct gs_selection *l)
{
	struct gpusched_tsg *less = reallocarray(l->recs, l->n + 1, sizeof(*less));

	if (!less)
		return;
	l->recs = less;
	l->at = l->read = l->n;
}

int gs_selection_step(struct gs_request *rq, struct gs_selection *l)
{
	int r = l->recs ? 0 : read_all(rq->rs, &l->recs, &l->read, rq->err);

	if (r)
		return r;
	for (; l->at < l->read && gs_request_has_time(rq); l->at++)
		if (matches(rq->rs, &rq->view, &l->target, &l->recs[l->at]))
			l->recs[l->n++] = l->recs[l->at];
	if (l->at == l->read)
		shrink(l);
	rq->size = l->read * sizeof(*l->recs);
	return l->at < l->read ? -EINPROGRESS : 0;
}

int gs_selection_none(const struct gs_view *view, const struct gs_target *t, struct gs_error *err)
{
	uid_t uid;

	switch (gs_target_kind(t)) {
	case GS_TARGET_PID:
		if (gs_view_pid(view, (pid_t)t->part[0].number, &uid))
			return gs_fail(err, -ENOENT, "there is no process %llu",
				       (unsigned long long)t->part[0].number);
		return gs_fail(err, -ENOENT, "process %llu has no TSG on a GPU",
			       (unsigned long long)t->part[0].number);
	case GS_TARGET_TSG:
		return gs_fail(err, -ENOENT,
			       "there is no TSG %llu (any more): 'gpusched list' shows them",
			       (unsigned long long)t->part[0].number);
	case GS_TARGET_ALL:
		return gs_fail(err, -ENOENT, "no process has a TSG on a GPU");
	default:
		return gs_fail(err, -ENOENT, "no TSG matches %s", t->whole);
	}
}

int gs_selection_target(struct gs_request *rq, struct gs_target *ret)
{
	const char *text = gs_arg_text(rq, "target");

	if (rq->view.pod && text && strcmp(text, "all") != 0)
		return gs_fail(rq->err, -EPERM, "a pod sees its own programs, without a target");
	return gs_target_parse(text ? text : "all", rq->rs->hub->classes, rq->rs->hub->gpus,
			       rq->rs->hub->ngpus, ret, rq->err);
}
