// SPDX-License-Identifier: MIT
#include "cli/demo.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/sheet.h"
#include "cli/cli.h"
#include "gpusched/gpusched.h"
#include "local/ask.h"

/* Takes @args. */
static json_t *ask(const char *verb, json_t *args)
{
	CLEANUP_GPUSCHED struct gpusched *g = NULL;
	CLEANUP_JSON json_t *owned = args;
	json_t *answer = NULL;

	if (gpusched_open(NULL, &g) || gs_ask(g, verb, owned, &answer))
		return NULL;
	return answer;
}

/* The BE's compute TSG. */
static const json_t *find_be(const json_t *list)
{
	json_t *row;
	size_t i;

	json_array_foreach(json_object_get(list, "tsgs"), i, row) {
		const char *kind = json_string_value(json_object_get(row, "kind"));

		if (kind && !strcmp(kind, "compute"))
			return row;
	}
	return NULL;
}

static void no_policy(struct demo *d)
{
	CLEANUP_JSON json_t *get = ask("policy_get", NULL);
	const char *why = json_string_value(gs_json_at(get, "last_exit.message"));

	snprintf(d->reason, sizeof(d->reason), "policy " DEMO_POLICY " does not run: %s",
		 why ? why : "the daemon gives no reason");
}

static void compare(struct demo *d, const json_t *be, const json_t *stats)
{
	CLEANUP_FREE char *is = gs_json_cell(gs_json_at(be, "is.timeslice_us"));
	CLEANUP_FREE char *want = gs_json_cell(gs_json_at(be, "want.timeslice_us"));
	const char *status = json_string_value(json_object_get(be, "last_error"));

	if (!gs_json_at(be, "want.timeslice_us"))
		snprintf(d->reason, sizeof(d->reason),
			 DEMO_POLICY " wanted nothing for the BE's compute TSG");
	else if (d->dry_run)
		snprintf(d->reason, sizeof(d->reason),
			 "gpuschedd runs with --dry-run: " DEMO_POLICY
			 " wanted %s us for the BE, which still has %s us; %" JSON_INTEGER_FORMAT
			 " calls were not made",
			 want, is, json_integer_value(gs_json_at(stats, "engine.dry_run")));
	else if (!is || !want || strcmp(is, want))
		snprintf(d->reason, sizeof(d->reason),
			 "the driver refused: " DEMO_POLICY
			 " wanted %s us for the BE, which still has %s us; %" JSON_INTEGER_FORMAT
			 " calls failed%s%s",
			 want, is, json_integer_value(gs_json_at(stats, "engine.calls_failed")),
			 status ? ", the last with " : "", status ? status : "");
}

void demo_reason(struct demo *d)
{
	CLEANUP_JSON json_t *stats = ask("stats", NULL);
	CLEANUP_JSON json_t *list = ask("list", json_pack("{s:s}", "target", "class:be"));
	const json_t *be = find_be(list);

	if (!stats)
		snprintf(d->reason, sizeof(d->reason), "gpuschedd did not answer any more");
	else if (!gs_json_at(stats, "policy"))
		no_policy(d);
	else if (!be)
		snprintf(d->reason, sizeof(d->reason), "gpuschedd sees no TSG of class be");
	else
		compare(d, be, stats);
}
