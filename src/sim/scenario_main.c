/* SPDX-License-Identifier: MIT */
/*
 * Runs scenarios without the rest of gpusched: for work on the model, under a debugger or
 * sanitizers.
 */
#include <stdio.h>
#include <string.h>

#include "basic/error.h"
#include "sim/scenario_cmd.h"

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "run"))
		return sim_cmd_run(argc - 1, argv + 1);
	if (argc > 1 && !strcmp(argv[1], "list"))
		return sim_cmd_list(argc - 1, argv + 1);
	fprintf(stderr, "usage: simrun run SCENARIO|all ... | list [--json]\n");
	return GS_EXIT_USAGE;
}
