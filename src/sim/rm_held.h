/* SPDX-License-Identifier: MIT */
/*
 * rm_held.h - which process holds how much of a GPU's memory: controls of a subdevice
 */
#ifndef GPUSCHED_SIM_RM_HELD_H
#define GPUSCHED_SIM_RM_HELD_H

#include "sim/rm_object.h"

/* Processes with a subdevice of the GPU, including ours. */
uint32_t sim_held_pids(struct sim_ctrl_args *a);
/* The memory that each named process holds; a process that holds nothing is no error. */
uint32_t sim_held_by_pid(struct sim_ctrl_args *a);
/* Total, heap and free part of the heap, in KiB. */
uint32_t sim_held_in_all(struct sim_ctrl_args *a);

#endif /* GPUSCHED_SIM_RM_HELD_H */
