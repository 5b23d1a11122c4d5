/* SPDX-License-Identifier: MIT */
/*
 * ended.h - puts memory that processes left when they ended into answers
 */
#ifndef GPUSCHED_REQUESTS_ENDED_H
#define GPUSCHED_REQUESTS_ENDED_H

#include <jansson.h>
#include <stddef.h>

struct gs_request;
struct gs_target;

/*
 * The ended processes that have left memory on GPU @i of the hub to no process with TSGs, as far as
 * the caller may see them. Null if the GPU's memory is unknown.
 */
json_t *gs_ended_of_gpu(struct gs_request *rq, size_t i);
/* The same for all GPUs that @t names. Empty if @t names more than GPUs. */
json_t *gs_ended_of_target(struct gs_request *rq, const struct gs_target *t);

#endif /* GPUSCHED_REQUESTS_ENDED_H */
