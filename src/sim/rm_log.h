/* SPDX-License-Identifier: MIT */
/*
 * rm_log.h - simulates the context-switch log: the GPU's record of its turns, in event buffers
 *
 * While a log is bound to a GPU, START and END of every turn on a graphics engine go to the GPU's
 * own buffer. Periodically, or when a client asks, RM copies them into all logs that are bound.
 */
#ifndef GPUSCHED_SIM_RM_LOG_H
#define GPUSCHED_SIM_RM_LOG_H

#include "sim/rm_object.h"

/* Makes an event buffer (NV_EVENT_BUFFER) under a client, over two pieces of deviceless memory. */
uint32_t sim_log_alloc(struct sim_rm *rm, struct sim_object *o, uint64_t params,
		       const struct sim_caller *c);
void sim_log_free(struct sim_rm *rm, struct sim_object *o);
/* Frees the event buffers that use @memory, which is being freed. */
void sim_log_memory_gone(struct sim_rm *rm, struct sim_object *memory);
/*
 * Call this when a channel is freed: its records that RM has not copied yet are lost, as in the
 * real RM.
 */
void sim_log_channel_gone(struct sim_rm *rm, const struct sim_object *channel);

/* Controls of the subdevice and of the buffer. */
uint32_t sim_log_bind(struct sim_ctrl_args *a);
uint32_t sim_rm_control_log(uint32_t cmd, struct sim_ctrl_args *a);

#endif /* GPUSCHED_SIM_RM_LOG_H */
