/* SPDX-License-Identifier: MIT */
/* model.h - a load of the bench on the model, with the model's own log of turns */
#ifndef GPUSCHED_BENCH_MODEL_H
#define GPUSCHED_BENCH_MODEL_H

#include "account/turns.h"
#include "bench/bench.h"
#include "sim/scenario.h"

/* @cell has load, scheme and block. *ret_s must outlive *ret; both are the caller's. */
int bench_model_run(const struct bench_run *run, const struct bench_cell *cell,
		    struct sim_scenario **ret_s, struct sim_result **ret, struct gs_error *err);
/* The account of that log: TSG ids are 1 + the number of the process. */
int bench_model_turns(const struct sim_result *res, struct gs_turns **ret);

#endif /* GPUSCHED_BENCH_MODEL_H */
