/* SPDX-License-Identifier: MIT */
/* scenario_sight.h - which TSG had the GPU, as far as the log says */
#ifndef GPUSCHED_SIM_SCENARIO_SIGHT_H
#define GPUSCHED_SIM_SCENARIO_SIGHT_H

#include "sim/scenario_priv.h"

int sim_sight_init(struct sim_sim *x);
void sim_sight_end(struct sim_sim *x);
void sim_sight_switch(struct sim_sim *x, const struct sim_switch *sw);
void sim_sight_launched(struct sim_proc *p);
void sim_sight_settings(struct sim_proc *p); /* its slice, and whether it can run */
void sim_sight_gone(struct sim_proc *p);
/* All sums for the result: as the account knows them, and without counted launches. */
void sim_sight_sums(struct sim_proc *p, struct gs_turn_sums *ret, struct gs_turn_sums *ret_of_log);
/* Writes the time when it last ran into its record. */
void sim_sight_refresh(struct sim_proc *p);
int sim_sight_facts(void *user, uint64_t id, struct gpusched_facts *ret);
int sim_sight_gpu(void *user, uint32_t gpu, struct gpusched_gpu *ret);
/* As gs_costs_slice_us(), of what the log says so far. */
uint32_t sim_sight_slice_us(struct sim_sim *x, uint32_t gpu);
int sim_sight_runlist(void *user, uint32_t runlist, struct gpusched_runlist_facts *ret);

#endif /* GPUSCHED_SIM_SCENARIO_SIGHT_H */
