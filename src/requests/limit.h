/* SPDX-License-Identifier: MIT */
/*
 * limit.h - the verb `limit`: limits a program's GPU time
 */
#ifndef GPUSCHED_REQUESTS_LIMIT_H
#define GPUSCHED_REQUESTS_LIMIT_H

struct gs_request;

int gs_verb_limit(struct gs_request *rq);

#endif /* GPUSCHED_REQUESTS_LIMIT_H */
