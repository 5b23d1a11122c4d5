// SPDX-License-Identifier: MIT
#include <errno.h>
#include <string.h>

#include "basic/log.h"
#include "cli/cli.h"
#include "cli/shell.h"
#include "sim/scenario_cmd.h"
#include "sim/shell.h"

int cli_sim_shell(struct cli *c)
{
	if (c->argc && strcmp(c->argv[-1], "--"))
		return cli_fail(-EINVAL, "sim shell: write -- before the command '%s'", c->argv[0]);
	return sim_cmd_shell(c->opts, c->nopts, c->argc ? c->argv : NULL);
}

int cli_sim_run(struct cli *c)
{
	gs_log_sink(gs_log_to_stderr, "gpusched", LOG_INFO); /* shows what the policy logs */
	return sim_cmd_run(c->argv[0], c->opts, c->nopts, c->json);
}

int cli_sim_list(struct cli *c)
{
	return sim_cmd_list(c->json);
}
