// SPDX-License-Identifier: MIT
#include <errno.h>

#include "cli/cli.h"
#include "cli/verbs_look.h"
#include "local/local.h"
#include "gpusched/gpusched.h"

/* Leaves out the figures of earlier times: they are for `status`, which subtracts them. */
static void drop_ago(json_t *answer)
{
	json_t *gpu;
	size_t i;

	json_object_del(answer, "ago");
	json_array_foreach(json_object_get(answer, "gpu_time"), i, gpu)
		json_object_del(gpu, "ago");
}

int cli_stats(struct cli *c)
{
	const char *by = cli_opt(c, "by");
	CLEANUP_JSON json_t *answer = NULL;
	int r;

	if (!by && (cli_opt(c, "wide") || cli_opt(c, "columns") || cli_opt(c, "sort")))
		return cli_fail(-EINVAL, "stats: --wide, --columns and --sort go with --by");
	r = cli_ask(GS_LOCAL_READ_ONLY, "stats", by ? json_pack("{s:s}", "by", by) : NULL, &answer);
	if (r)
		return gs_error_exit(r);
	if (by)
		return cli_print_history_sums(c, by, false, answer);
	if (!c->json)
		drop_ago(answer);
	return cli_screen_object(c, answer);
}
