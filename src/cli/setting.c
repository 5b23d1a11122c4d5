// SPDX-License-Identifier: MIT
#include "cli/setting.h"

#include <errno.h>
#include <string.h>

#include "rm/setting.h"

int cli_setting_parse(const char *text, json_t *args, struct gs_error *err)
{
	const char *eq = strchr(text, '='), *key, *word;
	uint32_t bit, value = 0;
	int r;

	if (!eq)
		return gs_fail(err, -EINVAL, "'%s' is not KEY=VALUE, such as timeslice=20us", text);
	bit = gs_setting_find(text, (size_t)(eq - text));
	if (!bit)
		return gs_fail(err, -EINVAL,
			       "unknown setting '%.*s': timeslice, interleave or preempt_mode",
			       (int)(eq - text), text);
	key = gs_setting_of(bit)->key;
	if (json_object_get(args, key))
		return gs_fail(err, -EINVAL, "%s is given twice", key);
	r = gs_setting_parse(bit, eq + 1, &value, err);
	word = gs_setting_word(bit, value);
	return r ? r
		 : json_object_set_new(args, key, word ? json_string(word) : json_integer(value));
}
