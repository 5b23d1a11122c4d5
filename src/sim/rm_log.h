/* SPDX-License-Identifier: MIT */
/*
 * rm_log.h - the context-switch log: the GPU's own record of its turns, in event buffers
 *
 * While a buffer is bound, START and END of every turn of a graphics engine are kept as the GPU
 * keeps them. Now and then, or when a client asks, RM moves them into all buffers that are bound.
 */
#ifndef GPUSCHED_SIM_RM_LOG_H
#define GPUSCHED_SIM_RM_LOG_H

#include "sim/rm_object.h"

/* Makes an NV_EVENT_BUFFER under a client, over two pieces of deviceless memory. */
uint32_t sim_log_alloc(struct sim_rm *rm, struct sim_object *o, uint64_t params,
		       const struct sim_caller *c);
void sim_log_free(struct sim_rm *rm, struct sim_object *o);
/* Frees the buffers over that memory, which is being freed. */
void sim_log_memory_gone(struct sim_rm *rm, struct sim_object *memory);
/* A channel is being freed: its records that RM has not moved yet are lost, as in the real RM. */
void sim_log_channel_gone(struct sim_rm *rm, const struct sim_object *channel);

/* Controls of the subdevice and of the buffer. */
uint32_t sim_log_bind(struct sim_ctrl_args *a);
uint32_t sim_ctrl_log(uint32_t cmd, struct sim_ctrl_args *a);

#endif /* GPUSCHED_SIM_RM_LOG_H */
