/* SPDX-License-Identifier: MIT */
/* scenario_request.h - reports the process's requests to the policy */
#ifndef GPUSCHED_SIM_SCENARIO_REQUEST_H
#define GPUSCHED_SIM_SCENARIO_REQUEST_H

#include "sim/scenario_priv.h"

void sim_request_coming(struct sim_proc *p);
void sim_request_launch(struct sim_proc *p);
void sim_request_rests(struct sim_proc *p);
void sim_request_done(struct sim_proc *p);
void sim_request_quiet(struct sim_proc *p);

#endif /* GPUSCHED_SIM_SCENARIO_REQUEST_H */
