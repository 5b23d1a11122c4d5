/* SPDX-License-Identifier: MIT */
/*
 * selection.h - picks the records that match a request's target
 */
#ifndef GPUSCHED_REQUESTS_SELECTION_H
#define GPUSCHED_REQUESTS_SELECTION_H

#include "requests/target.h"
#include "requests/verb.h"

/* The records that match a request's target. */
struct gs_selection {
	struct gs_target target;
	struct gpusched_tsg *recs;
	size_t n;        /* records in @recs: those that matched so far */
	size_t at, read; /* private */
};
/* Picks records as long as the request has time. -EINPROGRESS: not finished, call it again. */
int gs_selection_step(struct gs_request *rq, struct gs_selection *l);
void gs_selection_free(struct gs_selection *l);
/*
 * Sets the message for a target that matched nothing, without revealing what the caller may not
 * see. Returns -ENOENT.
 */
int gs_selection_none(const struct gs_view *view, const struct gs_target *t, struct gs_error *err);
/* Reads args.target; without it, the target is all TSGs. */
int gs_selection_target(struct gs_request *rq, struct gs_target *ret);

#endif /* GPUSCHED_REQUESTS_SELECTION_H */
