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

/* NV_EVENT_BUFFER under a client; made over two pieces of deviceless memory. */
uint32_t sim_log_alloc(struct sim_rm *rm, struct sim_object *o, uint64_t params,
		       const struct sim_caller *c);
void sim_log_free(struct sim_rm *rm, struct sim_object *o);
/* Buffers over that memory are freed with it. */
void sim_log_memory_gone(struct sim_rm *rm, struct sim_object *memory);
/* If a record's channel is gone before the record was moved, it is lost, as in RM. */
void sim_log_channel_gone(struct sim_rm *rm, const struct sim_object *channel);

/* Controls of the subdevice and of the buffer. */
uint32_t sim_log_bind(struct sim_ctrl_args *a);
uint32_t sim_ctrl_log(uint32_t cmd, struct sim_ctrl_args *a);

#endif /* GPUSCHED_SIM_RM_LOG_H */
