/* SPDX-License-Identifier: MIT */
/*
 * limit.h - the verbs that limit a program's GPU time, and promise some to it
 */
#ifndef GPUSCHED_REQUESTS_LIMIT_H
#define GPUSCHED_REQUESTS_LIMIT_H

struct gs_request;

int gs_verb_limit(struct gs_request *rq);
int gs_verb_request(struct gs_request *rq);

#endif /* GPUSCHED_REQUESTS_LIMIT_H */
