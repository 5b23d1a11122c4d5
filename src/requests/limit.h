/* SPDX-License-Identifier: MIT */
/*
 * limit.h - handles the verbs `limit` and `request`: the most and the least GPU time of a program
 */
#ifndef GPUSCHED_REQUESTS_LIMIT_H
#define GPUSCHED_REQUESTS_LIMIT_H

struct gs_request;

int gs_verb_limit(struct gs_request *rq);
int gs_verb_request(struct gs_request *rq);

#endif /* GPUSCHED_REQUESTS_LIMIT_H */
