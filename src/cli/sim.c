// SPDX-License-Identifier: MIT
#include "basic/log.h"
#include "cli/cli.h"
#include "sim/scenario_cmd.h"
#include "sim/shell.h"

int cli_sim_shell(struct cli *c)
{
	return sim_cmd_shell(c->argc, c->argv);
}

int cli_sim_run(struct cli *c)
{
	gs_log_sink(gs_log_to_stderr, "gpusched", LOG_INFO); /* what the policy says */
	return sim_cmd_run(c->argc, c->argv);
}

int cli_sim_list(struct cli *c)
{
	return sim_cmd_list(c->argc, c->argv);
}
