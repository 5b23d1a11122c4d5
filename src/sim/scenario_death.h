/* SPDX-License-Identifier: MIT */
/* scenario_death.h - ends a process with an error */
#ifndef GPUSCHED_SIM_SCENARIO_DEATH_H
#define GPUSCHED_SIM_SCENARIO_DEATH_H

#include "sim/scenario_priv.h"

/* Its peers wait for it from now on. Only the first reason counts. */
void sim_proc_death(struct sim_proc *p, enum sim_death why);

#endif /* GPUSCHED_SIM_SCENARIO_DEATH_H */
