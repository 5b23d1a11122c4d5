// SPDX-License-Identifier: MIT
#include <errno.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/env.h"
#include "cli/cli.h"
#include "cli/verbs_look.h"
#include "gpusched/gpusched.h"
#include "local/ask.h"
#include "local/local.h"

void cli_client_close_(struct gpusched **g)
{
	if (*g)
		gpusched_close(*g);
}

static void report(const struct gpusched *g, const char *what, int r)
{
	const char *text = g ? gpusched_error(g) : "";

	if (text && *text)
		cli_fail(r, "%s", text);
	else
		cli_fail(r, "%s: %s", what, strerror(-r));
}

int cli_client_open(uint32_t flags, struct gpusched **ret)
{
	CLEANUP_GPUSCHED struct gpusched *g = NULL;
	int r;

	r = gs_local_open(flags, &g);
	if (r) {
		report(g, "gpusched cannot be reached", r);
		return r;
	}
	*ret = TAKE_PTR(g);
	return 0;
}

const char *cli_client_not_done(const json_t *answer)
{
	if (!json_is_true(json_object_get(answer, "dry_run")))
		return NULL;
	return json_is_true(json_object_get(answer, "watch_only"))
		       ? "the driver's branch is not known: nothing is done to any TSG"
		       : "DryRun=yes: nothing is done to any TSG";
}

/* Says that a daemon with --dry-run changes nothing. Not for verbs that only read. */
static void tell_dry_run(const char *verb, const json_t *answer)
{
	static const char *const reads[] = { "list", "gpus", "stats", "status", "ping" };

	if (!cli_client_not_done(answer))
		return;
	for (size_t i = 0; i < GS_COUNT(reads); i++)
		if (!strcmp(verb, reads[i]))
			return;
	fprintf(stderr, "gpusched: %s\n", cli_client_not_done(answer));
}

int cli_client_request(struct gpusched *g, const char *verb, json_t *args, json_t **ret)
{
	CLEANUP_JSON json_t *owned = args;
	int r;

	r = gs_ask(g, verb, owned, ret);
	if (r)
		report(g, verb, r);
	else
		tell_dry_run(verb, *ret);
	return r;
}

int cli_client_try(struct gpusched *g, const char *verb, const json_t *args, json_t **ret)
{
	return gs_ask(g, verb, args, ret);
}

int cli_ask(uint32_t flags, const char *verb, json_t *args, json_t **ret)
{
	CLEANUP_JSON json_t *owned = args;
	CLEANUP_GPUSCHED struct gpusched *g = NULL;
	int r;

	r = cli_client_open(flags, &g);
	return r ? r : cli_client_request(g, verb, TAKE_PTR(owned), ret);
}
