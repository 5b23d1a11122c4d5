// SPDX-License-Identifier: MIT
#include <string.h>
#include <time.h>

#include "basic/cleanup.h"
#include "cli/cli.h"
#include "cli/verbs_look.h"
#include "local/local.h"
#include "gpusched/gpusched.h"

/* Makes text such as "kept 2026-11-26". Only costs that were measured earlier have a date. */
static char *basis(const json_t *row, const char *basis_key, const char *kept_key)
{
	const json_t *kept = gs_json_at(row, kept_key);
	time_t at = (time_t)json_integer_value(kept);
	char text[80], date[32] = "";
	struct tm tm;

	if (kept && localtime_r(&at, &tm))
		strftime(date, sizeof(date), " %F", &tm);
	snprintf(text, sizeof(text), "%s%s", json_string_value(json_object_get(row, basis_key)),
		 date);
	return strdup(text);
}

static char *switch_basis(const json_t *row)
{
	return basis(row, "switch_basis", "switch_kept_s");
}

static char *save_basis(const json_t *row)
{
	return basis(row, "save_basis", "save_kept_s");
}

/* Says why there is no log, or why the log does not show the save's cost yet. */
static char *why_not(const json_t *row)
{
	const json_t *why = gs_json_at(row, "reason");

	if (!json_is_string(why))
		why = gs_json_at(row, "save_reason");
	return json_is_string(why) ? strdup(json_string_value(why)) : NULL;
}

static const struct gs_column columns[] = {
	{ "gpu", "GPU", GS_COL_RIGHT },
	{ "name", "NAME" },
	{ "driver_branch", "DRIVER", GS_COL_RIGHT },
	{ "switch_us", "SWITCH_US", GS_COL_TENTHS },
	{ "save_us", "SAVE_US", GS_COL_TENTHS },
	{ "restore_us", "RESTORE_US", GS_COL_TENTHS, .spare = 2 },
	{ "switch_basis", "SWITCH_BY", .spare = 3, .cell = switch_basis },
	{ "save_basis", "SAVE_BY", .spare = 1, .cell = save_basis },
	{ "reason", "WHY_NOT", GS_COL_WRAP, .cell = why_not },
	{ "save_reason" },
	{ "restore_basis" },
	{ "switch_kept_s" },
	{ "save_kept_s" },
	{ "restore_kept_s" },
	{ "driver" },
	{ "vbios" },
	{ "log" },
	{ "slice_unit_us" },
	{ "idle_turn_us" },
	/* in tables only with --wide */
	{ "minor", "MINOR", GS_COL_RIGHT },
	{ "pci", "PCI" },
	{ "gpu_uuid", "UUID" },
};
#define WIDE 3

int cli_gpus(struct cli *c)
{
	struct gs_column shown[GS_COUNT(columns)];
	CLEANUP_JSON json_t *answer = NULL;
	int r = cli_ask(GS_LOCAL_READ_ONLY, "gpus", NULL, &answer);

	if (r)
		return gs_error_exit(r);
	memcpy(shown, columns, sizeof(shown));
	for (size_t i = 0; i < WIDE && !cli_opt(c, "wide"); i++)
		shown[GS_COUNT(columns) - 1 - i].head = NULL;
	return cli_screen_rows(c, shown, GS_COUNT(columns), json_object_get(answer, "gpus"));
}
