/* SPDX-License-Identifier: MIT */
/* scenario_calls.h - makes RM calls, in the order that the engine's core decides */
#ifndef GPUSCHED_SIM_SCENARIO_CALLS_H
#define GPUSCHED_SIM_SCENARIO_CALLS_H

#include "sim/scenario_priv.h"

void sim_call_runnable(struct sim_proc *p, bool on);
/* Makes a call exactly as the scenario says, without the core. */
void sim_call_script(struct sim_sim *x, struct sim_proc *p, enum gs_rm_op op, uint32_t arg);
/* These let the core compare one TSG, or all, with the wanted settings. They need a core. */
void sim_call_look(struct sim_proc *p, const struct gs_news *news);
void sim_call_look_all(struct sim_sim *x);
void sim_call_forget(struct sim_proc *p);
void sim_call_due(struct sim_sim *x);
void sim_call_begin(struct sim_sim *x, unsigned int worker); /* it has RM's locks */
void sim_call_effect(struct sim_sim *x, unsigned int worker);
/* False: the call goes on. True: it has left RM's locks; give them away, then sim_call_next(). */
bool sim_call_end(struct sim_sim *x, unsigned int worker);
/* Goes on with the worker's next call. */
void sim_call_next(struct sim_sim *x, unsigned int worker);
/* Posts the rotation's next turn, which starts one period after the end of this turn's calls. */
void sim_call_end_rotation(struct sim_sim *x);

#endif /* GPUSCHED_SIM_SCENARIO_CALLS_H */
