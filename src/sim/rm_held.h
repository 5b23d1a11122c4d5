/* SPDX-License-Identifier: MIT */
/*
 * rm_held.h - which process holds how much of a GPU's memory: controls of a subdevice
 */
#ifndef GPUSCHED_SIM_RM_HELD_H
#define GPUSCHED_SIM_RM_HELD_H

#include "sim/rm_object.h"

/* Lists processes that have a subdevice of the GPU, and the caller too. */
uint32_t sim_held_pids(struct sim_ctrl_args *a);
/* Gets the memory that each named process holds. A process that holds nothing is no error. */
uint32_t sim_held_by_pid(struct sim_ctrl_args *a);
/* Gets total, heap and free part of the heap, in KiB. */
uint32_t sim_held_in_all(struct sim_ctrl_args *a);

#endif /* GPUSCHED_SIM_RM_HELD_H */
