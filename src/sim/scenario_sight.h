/* SPDX-License-Identifier: MIT */
/* scenario_sight.h - computes which TSG had the GPU, as far as the log shows it */
#ifndef GPUSCHED_SIM_SCENARIO_SIGHT_H
#define GPUSCHED_SIM_SCENARIO_SIGHT_H

#include "sim/scenario_priv.h"

int sim_sight_init(struct sim_sim *x);
void sim_sight_end(struct sim_sim *x);
void sim_sight_switch(struct sim_sim *x, const struct sim_switch *sw);
void sim_sight_launched(struct sim_proc *p);
/* Call this when the TSG's slice, preemption mode or runnable state has changed. */
void sim_sight_settings(struct sim_proc *p);
void sim_sight_gone(struct sim_proc *p);
/* Gets the sums for the result: of the account, and of the account without counted launches. */
void sim_sight_sums(struct sim_proc *p, struct gs_turn_sums *ret, struct gs_turn_sums *ret_of_log);
/* Updates in the process's record when its TSG last ran. */
void sim_sight_refresh(struct sim_proc *p);
int sim_sight_facts(void *user, uint64_t id, struct gpusched_facts *ret);
int sim_sight_gpu(void *user, uint32_t gpu, struct gpusched_gpu *ret);
/* Returns gs_costs_slice_us() for the switch costs that the log has shown so far. */
uint32_t sim_sight_slice_us(struct sim_sim *x, uint32_t gpu);
int sim_sight_runlist(void *user, uint32_t runlist, struct gpusched_runlist_facts *ret);

#endif /* GPUSCHED_SIM_SCENARIO_SIGHT_H */
