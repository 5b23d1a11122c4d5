// SPDX-License-Identifier: MIT
#include "cli/setting.h"

#include <errno.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/parse.h"
#include "cli/cli.h"
#include "gpusched/abi.h"
#include "rm/setting.h"

int cli_setting_parse(const char *text, json_t *args, struct gs_error *err)
{
	const char *eq = strchr(text, '='), *key, *word;
	uint32_t bit, value = 0;
	int r;

	if (!eq)
		return gs_fail(err, -EINVAL, "'%s' is not KEY=VALUE, such as timeslice=20us", text);
	bit = gs_setting_find(text, (size_t)(eq - text));
	if (!bit && !strncmp(text, "priority=", 9))
		return gs_fail(
			err, -EINVAL,
			"a TSG has no priority: its program's class says who goes first, such "
			"as 'gpusched class set TARGET lc'");
	if (!bit)
		return gs_fail(err, -EINVAL,
			       "unknown setting '%.*s': timeslice, interleave, preempt_mode, "
			       "limit or request",
			       (int)(eq - text), text);
	key = gs_setting_of(bit)->key;
	if (json_object_get(args, key))
		return gs_fail(err, -EINVAL, "%s is given twice", key);
	r = gs_setting_parse(bit, eq + 1, &value, err);
	word = gs_setting_word(bit, value);
	return r ? r
		 : json_object_set_new(args, key, word ? json_string(word) : json_integer(value));
}

int cli_setting_args(const struct cli *c, const char *verb, json_t **ret)
{
	static const struct {
		const char *name;
		uint64_t min, max;
	} options[] = {
		{ "weight", GPUSCHED_WEIGHT_MIN, GPUSCHED_WEIGHT_MAX },
		{ "limit", GPUSCHED_LIMIT_MIN_PCT, GPUSCHED_LIMIT_MAX_PCT },
		{ "request", GPUSCHED_REQUEST_MIN_PCT, GPUSCHED_REQUEST_MAX_PCT },
	};
	CLEANUP_JSON json_t *args = json_object();

	for (size_t i = 0; i < GS_COUNT(options); i++) {
		const char *text = cli_opt(c, options[i].name);
		struct gs_error err = {};
		uint64_t v;
		int r;

		if (!text)
			continue;
		r = gs_parse_u64(text, options[i].min, options[i].max, &v, &err);
		if (r)
			return cli_fail(r, "%s: --%s: %s", verb, options[i].name, err.text);
		json_object_set_new(args, options[i].name, json_integer((json_int_t)v));
	}
	*ret = TAKE_PTR(args);
	return GS_EXIT_OK;
}
