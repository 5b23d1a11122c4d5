// SPDX-License-Identifier: MIT
/*
 * info.c - frees facts about a policy, and describes it as JSON, the same in every answer
 */
#include <string.h>

#include "basic/cleanup.h"
#include "policy/priv.h"

void gs_policy_info_free(struct gs_policy_info *info)
{
	free(info->options);
	info->options = NULL;
	info->noptions = 0;
}

/* Returns a value of the option's type; null if it exceeds a signed 64-bit integer. */
static json_t *value_json(const struct gs_policy_option *o, uint64_t v)
{
	return o->is_signed || v <= INT64_MAX ? json_integer((json_int_t)v) : json_null();
}

static json_t *option_json(const struct gs_policy_option *o, bool running)
{
	json_t *one = json_pack("{s:s, s:s, s:o, s:o, s:o, s:s}", "name", o->name, "type", o->type,
				"default", value_json(o, o->def), "min", value_json(o, o->min),
				"max", value_json(o, o->max), "help", o->help);

	if (running)
		json_object_set_new(one, "value", value_json(o, o->value));
	return one;
}

static json_t *callbacks_json(const char *callbacks)
{
	json_t *all = json_array();

	while (*callbacks) {
		size_t n = strcspn(callbacks, " ");

		json_array_append_new(all, json_stringn(callbacks, n));
		callbacks += n + strspn(callbacks + n, " ");
	}
	return all;
}

bool gs_policy_info_ignores(const struct gs_policy_info *info, const char *name)
{
	size_t n = strlen(name);

	for (const char *at = info->classes; *at;) {
		size_t word = strcspn(at, " ");

		if (word == n && !strncmp(at, name, n))
			return false;
		at += word + strspn(at + word, " ");
	}
	return *info->classes;
}

json_t *gs_policy_info_json(const struct gs_policy_info *info, bool running)
{
	json_t *options = json_array();

	for (size_t i = 0; i < info->noptions; i++)
		json_array_append_new(options, option_json(&info->options[i], running));
	return json_pack("{s:s, s:s?, s:s?, s:s, s:o, s:i, s:o, s:i, s:o}", "name", info->name,
			 "about", *info->about ? info->about : NULL, "classes",
			 *info->classes ? info->classes : NULL, "path", info->path, "callbacks",
			 callbacks_json(info->callbacks), "abi", (int)info->abi, "tick_us",
			 info->tick_us ? json_integer(info->tick_us) : json_null(), "timeout_ms",
			 (int)info->timeout_ms, "options", options);
}
