/* SPDX-License-Identifier: MIT */
/* verbs_park.h - park, unpark, parked; and who is parked, for other answers */
#ifndef GPUSCHED_REQUESTS_VERBS_PARK_H
#define GPUSCHED_REQUESTS_VERBS_PARK_H

#include <jansson.h>
#include <stdbool.h>

struct gs_request;

int gs_verb_park(struct gs_request *rq);
int gs_verb_unpark(struct gs_request *rq);
int gs_verb_parked(struct gs_request *rq);
/* Nobody waits for the answer any more. */
bool gs_caller_left(const struct gs_request *rq);
int gs_verb_make_room(struct gs_request *rq); /* verbs_room.c */
/* Those that the viewer may see. */
json_t *gs_parked_list_json(struct gs_request *rq);

/* ... and what `status` finds about them. */
struct gs_findings;
struct gs_requests;
struct gs_view;
/* Idle programs that are not parked any more. @view NULL: for nobody in particular. */
void gs_in_vain_judge(const struct gs_requests *rs, const struct gs_view *view,
		      struct gs_findings *ret);
void gs_parked_judge(struct gs_request *rq, struct gs_findings *ret);

#endif /* GPUSCHED_REQUESTS_VERBS_PARK_H */
