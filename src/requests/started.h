/* SPDX-License-Identifier: MIT */
/*
 * started.h - a request that waits until a policy or launch counting has started
 */
#ifndef GPUSCHED_REQUESTS_STARTED_H
#define GPUSCHED_REQUESTS_STARTED_H

struct gs_request;
struct gs_starting;

/* Answers @rq when @t is done; takes the reference to @t. Calls @fill if the start succeeded. */
int gs_request_wait_start(struct gs_request *rq, struct gs_starting *t,
			  void (*fill)(struct gs_request *rq));

#endif /* GPUSCHED_REQUESTS_STARTED_H */
