/* SPDX-License-Identifier: MIT */
/*
 * model.h - measures a load of the bench on the GPU model (src/sim)
 *
 * The account is made from the model's own log of turns.
 */
#ifndef GPUSCHED_BENCH_MODEL_H
#define GPUSCHED_BENCH_MODEL_H

#include "account/turns.h"
#include "bench/bench.h"
#include "sim/scenario.h"

/*
 * Runs one cell; @cell has load, scheme and block. *ret_s must outlive *ret; the caller frees both.
 */
int bench_model_run(const struct bench_run *run, const struct bench_cell *cell,
		    struct sim_scenario **ret_s, struct sim_result **ret, struct gs_error *err);
/* Makes the account of the model's log. A TSG's id is 1 + the number of its process. */
int bench_model_turns(const struct sim_result *res, struct gs_turns **ret);

#endif /* GPUSCHED_BENCH_MODEL_H */
