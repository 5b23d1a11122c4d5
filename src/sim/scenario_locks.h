/* SPDX-License-Identifier: MIT */
/* scenario_locks.h - takes RM's locks, for calls and for processes that start or end */
#ifndef GPUSCHED_SIM_SCENARIO_LOCKS_H
#define GPUSCHED_SIM_SCENARIO_LOCKS_H

#include "sim/scenario_priv.h"

/* True: the process starts or ends (@type) now. False: it waits for the locks. */
bool sim_locks_owner(struct sim_sim *x, struct sim_proc *p, enum sim_event_type type);
/* True: the worker has the locks for its call. False: it waits for them. */
bool sim_locks_ask(struct sim_sim *x, unsigned int worker);
/* The worker's call is over. After that the locks go to those that wait: sim_locks_next(). */
void sim_locks_leave(struct sim_sim *x, unsigned int worker);
/* Gives the locks to the next waiter. False: there is none, or it has to wait on. */
bool sim_locks_next(struct sim_sim *x, struct sim_waiter *ret);
void sim_locks_free(struct sim_sim *x);

#endif /* GPUSCHED_SIM_SCENARIO_LOCKS_H */
