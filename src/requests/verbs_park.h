/* SPDX-License-Identifier: MIT */
/* verbs_park.h - handles park, unpark and parked, and lists parked processes for other answers */
#ifndef GPUSCHED_REQUESTS_VERBS_PARK_H
#define GPUSCHED_REQUESTS_VERBS_PARK_H

#include <jansson.h>

struct gs_request;

int gs_verb_park(struct gs_request *rq);
int gs_verb_unpark(struct gs_request *rq);
int gs_verb_parked(struct gs_request *rq);
int gs_verb_make_room(struct gs_request *rq); /* in verbs_room.c */
/* The parked processes that the viewer may see. */
json_t *gs_parked_list_json(struct gs_request *rq);

struct gs_findings;
struct gs_requests;
struct gs_view;
/*
 * Adds findings about idle programs that gpusched no longer parks by itself: those that @view may
 * see; NULL: all.
 */
void gs_parked_judge_in_vain(const struct gs_requests *rs, const struct gs_view *view,
			     struct gs_findings *ret);
/* Adds findings about parked processes that the caller may see. */
void gs_parked_judge(struct gs_request *rq, struct gs_findings *ret);

#endif /* GPUSCHED_REQUESTS_VERBS_PARK_H */
