// SPDX-License-Identifier: MIT
#include "cli/setting.h"

#include <errno.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/parse.h"
#include "gpusched/abi.h"

static const char *const levels[] = { "low", "medium", "high", NULL };
static const char *const modes[] = { "wfi", "cta", "cilp", NULL };

static const struct {
	const char *key;          /* as people write it */
	const char *json;         /* as the API has it */
	const char *const *names; /* NULL: a time */
	const char *choice;
} settings[] = {
	{ "timeslice", "timeslice_us", NULL, NULL },
	{ "timeslice_us", "timeslice_us", NULL, NULL },
	{ "interleave", "interleave", levels, "low, medium or high" },
	{ "preempt_mode", "preempt_mode", modes, "wfi, cta or cilp" },
};

static int take(size_t i, const char *value, json_t *args, struct gs_error *err)
{
	uint64_t us;
	int r;

	if (json_object_get(args, settings[i].json))
		return gs_fail(err, -EINVAL, "%s is given twice", settings[i].key);
	if (!settings[i].names) {
		r = gs_parse_us(value, GPUSCHED_TIMESLICE_MIN_US, GPUSCHED_TIMESLICE_MAX_US, &us,
				err);
		return r ? r
			 : json_object_set_new(args, settings[i].json,
					       json_integer((json_int_t)us));
	}
	for (const char *const *n = settings[i].names; *n; n++)
		if (!strcmp(*n, value))
			return json_object_set_new(args, settings[i].json, json_string(value));
	return gs_fail(err, -EINVAL, "%s is '%s': write %s", settings[i].key, value,
		       settings[i].choice);
}

int cli_setting_parse(const char *text, json_t *args, struct gs_error *err)
{
	const char *eq = strchr(text, '=');

	if (!eq)
		return gs_fail(err, -EINVAL, "'%s' is not KEY=VALUE, such as timeslice=20us", text);
	for (size_t i = 0; i < GS_COUNT(settings); i++)
		if (strlen(settings[i].key) == (size_t)(eq - text) &&
		    !strncmp(settings[i].key, text, (size_t)(eq - text)))
			return take(i, eq + 1, args, err);
	return gs_fail(err, -EINVAL,
		       "unknown setting '%.*s': timeslice, interleave or preempt_mode",
		       (int)(eq - text), text);
}
