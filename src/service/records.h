/* SPDX-License-Identifier: MIT */
/*
 * records.h - the table with GPU and class filled in
 */
#ifndef GPUSCHED_SERVICE_RECORDS_H
#define GPUSCHED_SERVICE_RECORDS_H

#include "classify/classify.h"
#include "service/target.h"
#include "service/verb.h"
#include "table/table.h"

struct gs_service;

/* Those that a request means, chosen in its slices. -EINPROGRESS: there are more. */
struct gs_selection {
	struct gs_target target;
	struct gpusched_tsg *recs;
	size_t n;        /* of those that were looked at */
	size_t at, read; /* private */
};
int gs_selection_step(struct gs_request *rq, struct gs_selection *l);
void gs_selection_free(struct gs_selection *l);
/* gs_classify(), for the records of one selection: a process has many TSGs. */
int gs_record_classify(struct gs_service *s, pid_t pid, struct gs_class_answer *ret);
/* NULL when unknown. */
const struct gs_gpu *gs_record_gpu(const struct gs_service *s, const struct gpusched_tsg *rec);
/* Worth a look at its executable: gs_reader_is_mps(). */
bool gs_record_calls_itself_mps(const struct gpusched_tsg *rec);
/*
 * What the hardware has: `is` holds what we told it and what the owner set since; a setting that we
 * never changed, or put back, is as the owner asked.
 */
struct gpusched_settings gs_record_is(const struct gpusched_tsg *rec);
/* Why a target matched nothing that the caller may know of; returns -ENOENT. */
int gs_target_nothing(const struct gs_view *view, const struct gs_target *t, struct gs_error *err);
/* Reads args.target; all where it is not given. */
int gs_request_target(struct gs_request *rq, struct gs_target *ret);

#endif /* GPUSCHED_SERVICE_RECORDS_H */
