/* SPDX-License-Identifier: MIT */
/* cuda_rm.h - calls RM */
#ifndef GPUSCHED_SIM_CUDA_CUDA_RM_H
#define GPUSCHED_SIM_CUDA_CUDA_RM_H

#include "sim/cuda/cuda_priv.h"

/* In cuda_rm.c. These return 0, RM's status (SIM_NV_*), or -1: no answer. */
int cu_rm_open(const char *path);
int cu_rm_alloc(uint32_t parent, uint32_t handle, uint32_t cls, void *params, uint32_t size);
int cu_rm_control(uint32_t object, uint32_t cmd, void *params, uint32_t size);
void cu_rm_free(uint32_t parent, uint32_t object);
uint32_t cu_rm_handle(void);
bool cu_alive(void);

#endif /* GPUSCHED_SIM_CUDA_CUDA_RM_H */
