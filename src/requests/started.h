/* SPDX-License-Identifier: MIT */
/*
 * started.h - a request that waits for the end of a start
 */
#ifndef GPUSCHED_REQUESTS_STARTED_H
#define GPUSCHED_REQUESTS_STARTED_H

struct gs_request;
struct gs_starting;

/* Answers @rq when @t is done, and takes its reference: @fill is called then if it went well. */
int gs_request_wait_start(struct gs_request *rq, struct gs_starting *t,
			  void (*fill)(struct gs_request *rq));

#endif /* GPUSCHED_REQUESTS_STARTED_H */
