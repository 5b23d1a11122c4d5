/* SPDX-License-Identifier: MIT */
/* verbs_means.h - shows what is known about programs, and chooses how a program shares the GPU */
#ifndef GPUSCHED_REQUESTS_VERBS_MEANS_H
#define GPUSCHED_REQUESTS_VERBS_MEANS_H

struct gs_request;

int gs_verb_means_get(struct gs_request *rq);
int gs_verb_means_choose(struct gs_request *rq);

/* How many arguments of a command line are read at most. */
#define GS_MEANS_ARGS 64

#endif /* GPUSCHED_REQUESTS_VERBS_MEANS_H */
