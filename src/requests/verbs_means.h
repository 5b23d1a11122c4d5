/* SPDX-License-Identifier: MIT */
/* verbs_means.h - the verbs that show what is known of programs, and choose a program's means */
#ifndef GPUSCHED_REQUESTS_VERBS_MEANS_H
#define GPUSCHED_REQUESTS_VERBS_MEANS_H

struct gs_request;

int gs_verb_means_get(struct gs_request *rq);
int gs_verb_means_choose(struct gs_request *rq);

/* Only this many arguments of a command line are read. */
#define GS_MEANS_ARGS 64

#endif /* GPUSCHED_REQUESTS_VERBS_MEANS_H */
