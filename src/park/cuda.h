/* SPDX-License-Identifier: MIT */
/* cuda.h - makes the checkpoint calls of the installed libcuda; only the park helper uses it */
#ifndef GPUSCHED_PARK_CUDA_H
#define GPUSCHED_PARK_CUDA_H

#include "park/call.h"

/* -ENOSYS: libcuda is missing, or it lacks the calls (driver before 570). */
int gs_park_cuda_open(uint32_t *ret_version);
/* Returns a CUresult. Only GS_PARK_STATE fills @ret_state; other calls may pass NULL. */
int gs_park_cuda_call(enum gs_park_op op, int pid, uint32_t timeout_ms, int *ret_state);

#endif /* GPUSCHED_PARK_CUDA_H */
