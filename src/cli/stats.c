// SPDX-License-Identifier: MIT
#include "cli/cli.h"
#include "gpusched/gpusched.h"

int cli_stats(struct cli *c)
{
	const char *by = cli_opt(c, "by");
	CLEANUP_JSON json_t *answer = NULL;
	int r;

	r = cli_ask(GPUSCHED_OPEN_READ_ONLY, "stats", by ? json_pack("{s:s}", "by", by) : NULL,
		    &answer);
	if (r)
		return gs_exit_of(r);
	return by ? cli_print_sums(c, by, false, json_object_get(answer, "rows"))
		  : cli_print_object(c, answer);
}
