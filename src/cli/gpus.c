// SPDX-License-Identifier: MIT
#include "basic/cleanup.h"
#include "cli/cli.h"
#include "cli/verbs_look.h"
#include "local/local.h"
#include "gpusched/gpusched.h"

static const struct gs_column columns[] = {
	{ "gpu", "GPU", GS_COL_RIGHT },
	{ "name", "NAME" },
	{ "driver_branch", "DRIVER", GS_COL_RIGHT },
	{ "switch_us", "SWITCH_US", GS_COL_TENTHS },
	{ "save_us", "SAVE_US", GS_COL_TENTHS },
	{ "restore_us", "RESTORE_US", GS_COL_TENTHS, .spare = 2 },
	{ "switch_basis", "SWITCH_BY", .spare = 3 },
	{ "save_basis", "SAVE_BY", .spare = 1 },
	{ "reason", "NO_LOG", GS_COL_WRAP },
	{ "gpu_uuid" },
	{ "pci" },
	{ "log" },
	{ "slice_unit_us" },
	{ "idle_turn_us" },
};

int cli_gpus(struct cli *c)
{
	CLEANUP_JSON json_t *answer = NULL;
	int r = cli_ask(GS_LOCAL_READ_ONLY, "gpus", NULL, &answer);

	if (r)
		return gs_exit_of(r);
	return cli_print_rows(c, columns, GS_COUNT(columns), json_object_get(answer, "gpus"));
}
