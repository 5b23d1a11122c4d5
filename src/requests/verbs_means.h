/* SPDX-License-Identifier: MIT */
/* verbs_means.h - what is known of programs, and by which means one starts */
#ifndef GPUSCHED_REQUESTS_VERBS_MEANS_H
#define GPUSCHED_REQUESTS_VERBS_MEANS_H

struct gs_request;

int gs_verb_means_get(struct gs_request *rq);
int gs_verb_means_choose(struct gs_request *rq);

/* Arguments of a command line that are looked at. */
#define GS_MEANS_ARGS 64

#endif /* GPUSCHED_REQUESTS_VERBS_MEANS_H */
