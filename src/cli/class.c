// SPDX-License-Identifier: MIT
#include <errno.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/parse.h"
#include "basic/say.h"
#include "basic/json_sheet.h"
#include "basic/term.h"
#include "cli/cli.h"
#include "cli/setting.h"
#include "cli/verbs_act.h"
#include "local/local.h"
#include "gpusched/abi.h"
#include "gpusched/gpusched.h"

#define KEY_WIDTH 8 /* width of the left column of `class explain` */

static const struct gs_column process_columns[] = {
	{ "pid", "PID", GS_COL_RIGHT },
	{ "comm", "COMM" },
	{ "class", "CLASS" },
	{ "source", "SOURCE" },
};

static const struct gs_column class_columns[] = {
	{ "name", "CLASS" },
	{ "weight", "WEIGHT", GS_COL_RIGHT },
	{ "request_pct", "REQUEST%", GS_COL_RIGHT },
	{ "limit_pct", "LIMIT%", GS_COL_RIGHT },
	{ "suspend_limit_ms", "SUSPEND_LIMIT_MS", GS_COL_RIGHT },
	{ "starve_limit_ms", "STARVE_LIMIT_MS", GS_COL_RIGHT },
	{ "deadline_us", "DEADLINE_US", GS_COL_RIGHT },
	{ "slo_us", "SLO_US", GS_COL_RIGHT },
	{ "cgroups", "CGROUPS" },
};

int cli_class_get(struct cli *c)
{
	const char *target = c->argc ? c->argv[0] : "all";
	CLEANUP_JSON json_t *answer = NULL;
	int r;

	r = cli_ask(GS_LOCAL_READ_ONLY, "class_get", json_pack("{s:s}", "target", target), &answer);
	if (r)
		return gs_error_exit(r);
	return cli_screen_rows(c, process_columns, GS_COUNT(process_columns),
			       json_object_get(answer, "processes"));
}

int cli_class_told(const struct cli *c, const char *what, const json_t *answer)
{
	json_int_t n = json_integer_value(json_object_get(answer, "processes"));
	json_int_t failed = json_integer_value(json_object_get(answer, "failed"));
	json_int_t kept = json_integer_value(json_object_get(answer, "kept"));
	const json_t *later = json_object_get(answer, "covers_later");

	if (c->json && cli_screen_object(c, answer))
		return GS_EXIT_FAILED;
	if (!c->json)
		printf("%s: %" JSON_INTEGER_FORMAT " process%s%s", what, n, n == 1 ? "" : "es",
		       json_is_true(later)    ? ", and those that come"
		       : json_is_false(later) ? ", not those that come (only root, with a daemon)"
					      : "");
	if (!c->json && kept)
		printf("; %" JSON_INTEGER_FORMAT " %s a class of %s own", kept,
		       kept == 1 ? "keeps" : "keep", kept == 1 ? "its" : "their");
	if (!c->json)
		putchar('\n');
	if (!c->json && json_object_get(answer, "without_agent"))
		puts("Nobody is paused for its requests: they are not seen. "
		     "Its next start by 'gpusched run --class lc' changes that.");
	if (!failed)
		return GS_EXIT_OK;
	cli_fail(-EREMOTEIO, "%s: %" JSON_INTEGER_FORMAT " of %" JSON_INTEGER_FORMAT " not changed",
		 what, failed, n + failed);
	return GS_EXIT_PARTLY;
}

int cli_class_set(struct cli *c)
{
	CLEANUP_JSON json_t *answer = NULL, *args = NULL;
	int r = cli_setting_args(c, "class set", &args);

	if (r)
		return r;
	json_object_set_new(args, "target", json_string(c->argv[0]));
	json_object_set_new(args, "class", json_string(c->argv[1]));
	r = cli_ask(0, "class_set", TAKE_PTR(args), &answer);
	return r ? (int)gs_error_exit(r) : cli_class_told(c, "class set", answer);
}

int cli_class_clear(struct cli *c)
{
	CLEANUP_JSON json_t *answer = NULL;
	int r;

	r = cli_ask(0, "class_clear", json_pack("{s:s}", "target", c->argv[0]), &answer);
	return r ? (int)gs_error_exit(r) : cli_class_told(c, "class clear", answer);
}

int cli_class_list(struct cli *c)
{
	CLEANUP_JSON json_t *answer = NULL;
	int r;

	r = cli_ask(GS_LOCAL_READ_ONLY, "class_list", NULL, &answer);
	if (r)
		return gs_error_exit(r);
	return cli_screen_rows(c, class_columns, GS_COUNT(class_columns),
			       json_object_get(answer, "classes"));
}

/* Prints a line such as "limit 30 %: user.gpusched.limit of cgroup /a", if there is a limit. */
static void print_part(const json_t *answer, const char *name, const char *pct, const char *why)
{
	const json_t *number = json_object_get(answer, pct);
	CLEANUP_FREE char *reason = gs_json_cell(json_object_get(answer, why));
	CLEANUP_FREE char *line = NULL;
	int n;

	if (!json_is_string(json_object_get(answer, why)) || !reason)
		return;
	if (json_is_integer(number))
		n = asprintf(&line, "%d %%: %s", (int)json_integer_value(number), reason);
	else
		n = asprintf(&line, "none: %s", reason);
	if (n < 0)
		return;
	printf("%-*s ", KEY_WIDTH, name);
	gs_term_wrap(stdout, line, KEY_WIDTH + 1, gs_term_width(stdout));
}

int cli_class_explain(struct cli *c)
{
	CLEANUP_JSON json_t *answer = NULL;
	json_t *step;
	size_t i;
	int r;

	r = cli_ask(GS_LOCAL_READ_ONLY, "class_explain", json_pack("{s:s}", "target", c->argv[0]),
		    &answer);
	if (r)
		return gs_error_exit(r);
	if (c->json)
		return cli_screen_object(c, answer);
	for (size_t n = 0; n < 4; n++) {
		static const char *const keys[] = { "pid", "class", "source", "why" };
		CLEANUP_FREE char *text = gs_json_cell(gs_json_at(answer, keys[n]));

		printf("%-*s ", KEY_WIDTH, keys[n]);
		gs_term_wrap(stdout, text ? text : "-", KEY_WIDTH + 1, gs_term_width(stdout));
	}
	json_array_foreach(json_object_get(answer, "steps"), i, step) {
		CLEANUP_FREE char *text = i ? gs_json_cell(step) : NULL;

		if (!text) /* the first step was already printed as "why" */
			continue;
		printf("%-*s ", KEY_WIDTH, i == 1 ? "outranks" : "");
		gs_term_wrap(stdout, text, KEY_WIDTH + 1, gs_term_width(stdout));
	}
	if (json_is_string(json_object_get(answer, "unreachable"))) {
		CLEANUP_FREE char *text = gs_json_cell(json_object_get(answer, "unreachable"));

		printf("%-*s ", KEY_WIDTH, "calls");
		gs_term_wrap(stdout, text, KEY_WIDTH + 1, gs_term_width(stdout));
	}
	print_part(answer, "limit", "limit_pct", "limit_why");
	print_part(answer, "request", "request_pct", "request_why");
	return GS_EXIT_OK;
}
