/* SPDX-License-Identifier: MIT */
/*
 * verbs_gpus.h - handles the verb `gpus`
 */
#ifndef GPUSCHED_REQUESTS_VERBS_GPUS_H
#define GPUSCHED_REQUESTS_VERBS_GPUS_H

struct gs_request;

int gs_verb_gpus(struct gs_request *rq);

#endif /* GPUSCHED_REQUESTS_VERBS_GPUS_H */
