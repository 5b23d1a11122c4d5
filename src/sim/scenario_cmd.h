/* SPDX-License-Identifier: MIT */
/*
 * scenario_cmd.h - the verbs `gpusched sim run` and `gpusched sim list`
 *
 * Both print to stdout, errors as one line to stderr, and return an exit code of enum gs_exit.
 * argv[0] is the verb.
 */
#ifndef GPUSCHED_SIM_SCENARIO_CMD_H
#define GPUSCHED_SIM_SCENARIO_CMD_H

/* run SCENARIO...|all [--policy P] [-o key=value] [--host H] [--seed N] [--json] [--timeline
 * FILE.gp] */
int sim_cmd_run(int argc, char **argv);
/* list [--json] */
int sim_cmd_list(int argc, char **argv);

#endif /* GPUSCHED_SIM_SCENARIO_CMD_H */
