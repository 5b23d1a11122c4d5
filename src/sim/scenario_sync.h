/* SPDX-License-Identifier: MIT */
/* scenario_sync.h - does the steps of processes that wait for each other */
#ifndef GPUSCHED_SIM_SCENARIO_SYNC_H
#define GPUSCHED_SIM_SCENARIO_SYNC_H

#include "sim/scenario_priv.h"

void sim_sync_start(struct sim_proc *p, uint64_t begin); /* launches its first steps */
struct sim_work sim_sync_spin(struct sim_proc *p);       /* the part of a step that waits */
void sim_sync_ran(struct sim_proc *p);                   /* the kernel of a step has run */
void sim_sync_done(struct sim_proc *p, uint64_t notice); /* a step of it is done */
void sim_sync_gone(struct sim_proc *p);                  /* call it when @p is not alive */

#endif /* GPUSCHED_SIM_SCENARIO_SYNC_H */
