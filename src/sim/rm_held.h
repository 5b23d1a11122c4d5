/* SPDX-License-Identifier: MIT */
/*
 * rm_held.h - answers which process holds how much of a GPU's memory: controls of a subdevice
 */
#ifndef GPUSCHED_SIM_RM_HELD_H
#define GPUSCHED_SIM_RM_HELD_H

#include "sim/rm_object.h"

/* Lists the processes that have a subdevice of the GPU; the caller is one of them. */
uint32_t sim_held_pids(struct sim_ctrl_args *a);
/* Gets the memory that each named process holds. A process that holds nothing is no error. */
uint32_t sim_held_by_pid(struct sim_ctrl_args *a);
/* Gets three figures of the GPU's memory, in KiB: total, heap, and the free part of the heap. */
uint32_t sim_held_in_all(struct sim_ctrl_args *a);

#endif /* GPUSCHED_SIM_RM_HELD_H */
