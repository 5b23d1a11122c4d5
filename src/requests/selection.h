/* SPDX-License-Identifier: MIT */
/*
 * selection.h - the records that a request means
 */
#ifndef GPUSCHED_REQUESTS_SELECTION_H
#define GPUSCHED_REQUESTS_SELECTION_H

#include "requests/target.h"
#include "requests/verb.h"

/* Those that a request means, chosen in its slices. -EINPROGRESS: there are more. */
struct gs_selection {
	struct gs_target target;
	struct gpusched_tsg *recs;
	size_t n;        /* of those that were looked at */
	size_t at, read; /* private */
};
int gs_selection_step(struct gs_request *rq, struct gs_selection *l);
void gs_selection_free(struct gs_selection *l);
/* Why a target matched nothing that the caller may know of; returns -ENOENT. */
int gs_target_nothing(const struct gs_view *view, const struct gs_target *t, struct gs_error *err);
/* Reads args.target; all where it is not given. */
int gs_request_target(struct gs_request *rq, struct gs_target *ret);

#endif /* GPUSCHED_REQUESTS_SELECTION_H */
