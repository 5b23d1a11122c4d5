// SPDX-License-Identifier: MIT
#include <pwd.h>
#include <string.h>
#include <time.h>

#include "basic/cleanup.h"
#include "basic/json_sheet.h"
#include "cli/cli.h"
#include "cli/verbs_look.h"
#include "gpusched/gpusched.h"
#include "local/local.h"

static char *whose(const json_t *row)
{
	const char *cgroup = json_string_value(gs_json_at(row, "cgroup"));
	uid_t uid = (uid_t)json_integer_value(gs_json_at(row, "uid"));
	const struct passwd *pw = cgroup ? NULL : getpwuid(uid);
	char *text = NULL;

	if (cgroup || pw)
		return strdup(cgroup ? cgroup : pw->pw_name);
	return asprintf(&text, "%u", uid) < 0 ? NULL : text;
}

static char *again(const json_t *row)
{
	time_t at = (time_t)json_integer_value(gs_json_at(row, "again_s"));
	struct tm t = { 0 };
	char text[32];

	localtime_r(&at, &t);
	return strdup(strftime(text, sizeof(text), "%F %H:%M", &t) ? text : "");
}

static char *state(const json_t *row)
{
	json_int_t held = json_integer_value(gs_json_at(row, "suspended"));
	bool stop = !strcmp(json_string_value(gs_json_at(row, "over")), "stop");
	char *text = NULL;

	if (!json_is_true(gs_json_at(row, "used_up")))
		return NULL;
	if (asprintf(&text, "used up: %s%s", stop ? "suspended" : "runs where nobody else waits",
		     held && !stop ? ", now suspended" : "") < 0)
		return NULL;
	return text;
}

static const char *state_colour(const json_t *row)
{
	return json_is_true(gs_json_at(row, "used_up")) ? "bold" : NULL;
}

static const struct gs_column columns[] = {
	{ "of", "OF" },
	{ "uid", "WHOSE", .cell = whose },
	{ "cgroup", NULL },
	{ "used_s", "USED S", GS_COL_RIGHT },
	{ "left_s", "LEFT S", GS_COL_RIGHT },
	{ "budget_s", "BUDGET S", GS_COL_RIGHT },
	{ "per", "PER" },
	{ "again_s", "AGAIN", .cell = again },
	{ "over", NULL },
	{ "used_up", "STATE", .cell = state, .colour = state_colour },
	{ "suspended", NULL },
	{ "began_s", NULL },
	{ "complete", NULL },
};

int cli_budget(struct cli *c)
{
	CLEANUP_JSON json_t *answer = NULL;
	const char *reason;
	json_t *rows;
	int r;

	r = cli_ask(GS_LOCAL_READ_ONLY, "budget", NULL, &answer);
	if (r)
		return gs_error_exit(r);
	rows = json_object_get(answer, "budgets");
	reason = json_string_value(json_object_get(answer, "reason"));
	if (!c->json && !json_array_size(rows)) {
		puts(reason ? reason : "no budget concerns you");
		return GS_EXIT_OK;
	}
	r = cli_screen_rows(c, columns, GS_COUNT(columns), rows);
	if (!r && !c->json && reason)
		printf("GPU time of before the daemon's start is not counted: %s\n", reason);
	return r;
}
