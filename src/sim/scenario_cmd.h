/* SPDX-License-Identifier: MIT */
/*
 * scenario_cmd.h - implements the verbs `gpusched sim run` and `gpusched sim list`
 *
 * Both print to stdout, print errors as one line to stderr, and return an exit code of enum
 * gs_exit.
 */
#ifndef GPUSCHED_SIM_SCENARIO_CMD_H
#define GPUSCHED_SIM_SCENARIO_CMD_H

#include "basic/parse.h"

/* @scenario: a name, a file or "all". Options: policy, option, host, facts, seed, timeline. */
int sim_cmd_run(const char *scenario, const struct gs_option_text *opts, size_t n, bool json);
int sim_cmd_list(bool json);

#endif /* GPUSCHED_SIM_SCENARIO_CMD_H */
