/* SPDX-License-Identifier: MIT */
/* verbs_park.h - park, unpark, parked; and who is parked, for other answers */
#ifndef GPUSCHED_REQUESTS_VERBS_PARK_H
#define GPUSCHED_REQUESTS_VERBS_PARK_H

#include <jansson.h>

struct gs_request;

int gs_verb_park(struct gs_request *rq);
int gs_verb_unpark(struct gs_request *rq);
int gs_verb_parked(struct gs_request *rq);
/* Those that the viewer may see. */
json_t *gs_parked_list_json(struct gs_request *rq);

/* ... and what `status` finds about them. */
struct gs_findings;
void gs_parked_judge(struct gs_request *rq, struct gs_findings *ret);

#endif /* GPUSCHED_REQUESTS_VERBS_PARK_H */
