// SPDX-License-Identifier: MIT
/* Reading the table: records of a target, with GPU index and class filled in. */
#include "service/records.h"

#include <string.h>

#include "basic/cleanup.h"
#include "process/reader.h"
#include "service/events.h"
#include "service/instance.h"

const struct gs_gpu *gs_record_gpu(const struct gs_service *s, const struct gpusched_tsg *rec)
{
	for (size_t i = 0; i < s->ngpus; i++) {
		if (rec->dev_instance != GPUSCHED_GPU_UNKNOWN &&
		    s->gpus[i].dev_instance == rec->dev_instance)
			return &s->gpus[i];
		if (rec->dev_instance == GPUSCHED_GPU_UNKNOWN && rec->task.gpu == s->gpus[i].index)
			return &s->gpus[i];
	}
	return NULL;
}

int gs_record_classify(struct gs_service *s, pid_t pid, struct gs_class_answer *ret)
{
	struct gs_asked *a = &s->asked[(unsigned int)pid % GS_ASKED];

	if (a->pid != pid) {
		a->code = gs_classify(s->classes, s->o, pid, &a->answer, NULL);
		a->pid = pid;
	}
	*ret = a->answer;
	return a->code;
}

/* The server's and the control daemon's name, as much as comm holds of it: anybody can have that. */
bool gs_record_calls_itself_mps(const struct gpusched_tsg *rec)
{
	return !strncmp(rec->task.comm, "nvidia-cuda-mps", GPUSCHED_COMM_LEN - 1);
}

/* What nobody has written into the table since no daemon runs is found out here. */
static void complete(struct gs_service *s, struct gpusched_tsg *rec)
{
	const struct gs_gpu *gpu = gs_record_gpu(s, rec);
	struct gs_class_answer answer;

	rec->task.gpu = gpu ? gpu->index : GPUSCHED_GPU_UNKNOWN;
	if (s->opts.daemon)
		return;
	if (gs_record_calls_itself_mps(rec) && gs_reader_is_mps((pid_t)rec->task.pid))
		rec->flags |= GPUSCHED_TSG_MPS;
	if (rec->task.class_id == GPUSCHED_CLASS_NONE &&
	    !gs_record_classify(s, (pid_t)rec->task.pid, &answer))
		rec->task.class_id = answer.class_id;
}

struct gpusched_settings gs_record_is(const struct gpusched_tsg *rec)
{
	const struct gpusched_settings *asked = &rec->task.asked;
	struct gpusched_settings is = rec->task.is;
	uint32_t take = asked->valid & ~is.valid & ~rec->changed;

	if (take & GPUSCHED_TIMESLICE)
		is.timeslice_us = asked->timeslice_us;
	if (take & GPUSCHED_INTERLEAVE)
		is.interleave = asked->interleave;
	if (take & GPUSCHED_PREEMPT_MODE)
		is.preempt_mode = asked->preempt_mode;
	if (take & GPUSCHED_RUNNABLE)
		is.runnable = asked->runnable;
	is.valid |= take;
	return is;
}

static int by_id(const void *a, const void *b)
{
	uint64_t x = ((const struct gpusched_tsg *)a)->task.id;
	uint64_t y = ((const struct gpusched_tsg *)b)->task.id;

	return x < y ? -1 : x > y;
}

/* All as they are now, by id. */
static int read_all(struct gs_service *s, struct gpusched_tsg **ret, size_t *ret_n,
		    struct gs_error *err)
{
	int r = gs_table_all(s->o, ret, ret_n);

	memset(s->asked, 0, sizeof(s->asked)); /* classes may have changed since the last request */
	if (r)
		return gs_fail(err, r, "the table of TSGs cannot be read: %s", strerror(-r));
	qsort(*ret, *ret_n, sizeof(**ret), by_id);
	return 0;
}

/* Completes one that is meant. */
static bool matches(struct gs_service *s, const struct gs_view *view,
		    const struct gs_target *target, struct gpusched_tsg *inout_rec)
{
	if (inout_rec->flags & GPUSCHED_TSG_GONE ||
	    (view && !gs_view_finds(view, target, inout_rec)))
		return false;
	complete(s, inout_rec);
	if (gs_target_has(target, GS_TARGET_CGROUP))
		gs_record_cgroup(s, inout_rec);
	return gs_target_match(
		target, inout_rec,
		gs_target_has(target, GS_TARGET_TID) ? gs_table_maker(s->o, inout_rec).tid : 0);
}

void gs_selection_free(struct gs_selection *l)
{
	free(l->recs);
}

/* It may be kept until calls are back, beside those of its user's other requests. */
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
	int r = l->recs ? 0 : read_all(rq->s, &l->recs, &l->read, rq->err);

	if (r)
		return r;
	for (; l->at < l->read && gs_request_has_time(rq); l->at++)
		if (matches(rq->s, &rq->view, &l->target, &l->recs[l->at]))
			l->recs[l->n++] = l->recs[l->at];
	if (l->at == l->read)
		shrink(l);
	rq->size = l->read * sizeof(*l->recs);
	return l->at < l->read ? -EINPROGRESS : 0;
}

int gs_target_nothing(const struct gs_view *view, const struct gs_target *t, struct gs_error *err)
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
