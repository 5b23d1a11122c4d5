// SPDX-License-Identifier: MIT
#include "cli/cli.h"
#include "gpusched/gpusched.h"

int cli_stats(struct cli *c)
{
	CLEANUP_JSON json_t *answer = NULL;
	int r;

	r = cli_ask(GPUSCHED_OPEN_READ_ONLY, "stats", NULL, &answer);
	return r ? (int)gs_exit_of(r) : cli_print_object(c, answer);
}
