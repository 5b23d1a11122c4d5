/* SPDX-License-Identifier: MIT */
/* cuda.h - the checkpoint calls of the libcuda that is installed here; in the helper alone */
#ifndef GPUSCHED_PARK_CUDA_H
#define GPUSCHED_PARK_CUDA_H

#include "park/call.h"

/* -ENOSYS: there is no libcuda, or it lacks the calls (driver before 570). */
int gs_park_cuda_open(uint32_t *ret_version);
/* A CUresult; @ret_state is for GS_PARK_STATE. */
int gs_park_cuda_call(enum gs_park_op op, int pid, uint32_t timeout_ms, int *ret_state);

#endif /* GPUSCHED_PARK_CUDA_H */
