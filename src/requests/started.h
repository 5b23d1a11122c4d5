/* SPDX-License-Identifier: MIT */
/*
 * started.h - answers a request when a policy or launch counting has started
 */
#ifndef GPUSCHED_REQUESTS_STARTED_H
#define GPUSCHED_REQUESTS_STARTED_H

struct gs_request;
struct gs_starting;

/*
 * Answers @rq when the start @t is done; takes the reference to @t. If the start succeeded, calls
 * @fill, which completes the answer.
 */
int gs_request_wait_start(struct gs_request *rq, struct gs_starting *t,
			  void (*fill)(struct gs_request *rq));

#endif /* GPUSCHED_REQUESTS_STARTED_H */
