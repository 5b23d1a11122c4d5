// SPDX-License-Identifier: MIT
/* args.c - checks a verb's arguments against its table, and prints the table */
#include <inttypes.h>
#include <string.h>

#include "basic/cleanup.h"
#include "rm/setting.h"
#include "requests/target.h"
#include "requests/verb.h"

/* Checks and converts a setting's value: a number, or one of the setting's words such as "high". */
static int check_setting(uint32_t bit, const json_t *v, uint32_t *ret, struct gs_error *err)
{
	const struct gs_setting *s = gs_setting_of(bit);
	char choice[64];
	int r;

	if (json_is_string(v) && s->words)
		return gs_setting_parse(bit, json_string_value(v), ret, err);
	if (!json_is_integer(v))
		return gs_fail(err, -EINVAL, "%s must be %s", s->key,
			       s->words ? gs_setting_choice(bit, choice) : "a whole number");
	r = gs_setting_check(bit, (uint64_t)json_integer_value(v), err);
	if (!r)
		*ret = (uint32_t)json_integer_value(v);
	return r;
}

void gs_args_settings(const json_t *args, struct gpusched_settings *ret)
{
	*ret = (struct gpusched_settings){ 0 };
	for (unsigned int i = 0; i < GS_NFIELDS; i++) {
		const json_t *v = json_object_get(args, gs_settings[i].key);
		uint32_t value;

		if (gs_settings[i].name && v && !check_setting(GS_BIT(i), v, &value, NULL))
			gs_field_put(ret, GS_BIT(i), value);
	}
}

static int check_texts(const struct gs_arg *a, const json_t *v, struct gs_error *err)
{
	bool good = json_is_array(v) && json_array_size(v) <= (size_t)a->max;

	for (size_t i = 0; good && i < json_array_size(v); i++)
		good = json_is_string(json_array_get(v, i));
	return good ? 0
		    : gs_fail(err, -EINVAL, "%s must be an array of at most %" PRId64 " strings",
			      a->name, a->max);
}

static int check_value(const struct gs_arg *a, const char *key, const json_t *v,
		       struct gs_error *err)
{
	uint32_t unused;

	switch (a->type) {
	case GS_ARG_TEXT:
	case GS_ARG_TARGET:
		if (json_is_string(v) && json_string_length(v))
			return 0;
		return gs_fail(err, -EINVAL, "%s must be a string that is not empty", key);
	case GS_ARG_BOOL:
		return json_is_boolean(v) ? 0
					  : gs_fail(err, -EINVAL, "%s must be true or false", key);
	case GS_ARG_TEXTS:
		return check_texts(a, v, err);
	case GS_ARG_SETTINGS:
		return check_setting(gs_setting_find(key, strlen(key)), v, &unused, err);
	case GS_ARG_NUMBER:
		break;
	}
	if (!json_is_integer(v))
		return gs_fail(err, -EINVAL, "%s must be a whole number", key);
	if (json_integer_value(v) < a->min || json_integer_value(v) > a->max)
		return gs_fail(err, -ERANGE, "%s is out of range: %" PRId64 " to %" PRId64, key,
			       a->min, a->max);
	return 0;
}

/* Returns the declared argument of that name, or NULL. */
static const struct gs_arg *find(const struct gs_verb *v, const char *key)
{
	uint32_t bit = gs_setting_find(key, strlen(key));

	for (const struct gs_arg *a = v->args; a < v->args + GS_ARGS_MAX && a->name; a++)
		if (a->type == GS_ARG_SETTINGS ? bit && !strcmp(gs_setting_of(bit)->key, key)
					       : !strcmp(a->name, key))
			return a;
	return NULL;
}

int gs_args_check(const struct gs_verb *v, const json_t *args, struct gs_error *err)
{
	const char *key;
	json_t *value;

	if (!json_is_object(args))
		return gs_fail(err, -EINVAL, "%s: the arguments must be a JSON object", v->name);
	json_object_foreach((json_t *)args, key, value) {
		const struct gs_arg *a = find(v, key);
		int r = a ? 0 : -EINVAL;

		if (!a)
			return gs_fail(err, r, "%s: unknown argument '%.64s'", v->name, key);
		if (!json_is_null(value))
			r = check_value(a, key, value, err);
		if (r)
			return r;
	}
	for (const struct gs_arg *a = v->args; a < v->args + GS_ARGS_MAX && a->name; a++) {
		value = json_object_get(args, a->name);
		if (a->needed && (!value || json_is_null(value)))
			return gs_fail(err, -EINVAL, "%s: %s is missing: %s", v->name, a->name,
				       a->type == GS_ARG_TARGET ? GS_TARGET_KINDS ":X, or all"
								: a->help);
	}
	return 0;
}

/* ---- for people ------------------------------------------------------------------------------ */

static void print_arg(FILE *out, const char *name, bool needed, const char *type, const char *help)
{
	char text[128];

	snprintf(text, sizeof(text), "%s%s%s", help, *help && needed ? "; " : "",
		 needed ? "needed" : "");
	fprintf(out, "    %-14s %s%s%s\n", name, type, *text ? ", " : "", text);
}

static void print_settings(FILE *out)
{
	char choice[64];

	for (unsigned int i = 0; i < GS_NFIELDS; i++)
		if (gs_settings[i].name)
			print_arg(out, gs_settings[i].key, false,
				  gs_setting_choice(GS_BIT(i), choice), "");
}

static void type_of(const struct gs_arg *a, char ret[64])
{
	static const char *const types[] = { [GS_ARG_TEXT] = "string",
					     [GS_ARG_TARGET] = "target",
					     [GS_ARG_BOOL] = "true or false" };

	if (a->type == GS_ARG_NUMBER)
		snprintf(ret, 64, "%" PRId64 " to %" PRId64, a->min, a->max);
	else if (a->type == GS_ARG_TEXTS)
		snprintf(ret, 64, "at most %" PRId64 " strings", a->max);
	else
		snprintf(ret, 64, "%s", types[a->type]);
}

void gs_arg_print(FILE *out, const struct gs_arg *a)
{
	char type[64];

	if (a->type == GS_ARG_SETTINGS) {
		print_settings(out);
		return;
	}
	type_of(a, type);
	print_arg(out, a->name, a->needed, type, a->help);
}

static void put_arg(json_t *list, const char *name, bool needed, const char *type, const char *help)
{
	json_array_append_new(list, json_pack("{s:s, s:s, s:b, s:s?}", "name", name, "type", type,
					      "needed", needed, "help", *help ? help : NULL));
}

void gs_arg_put_json(json_t *list, const struct gs_arg *a)
{
	char type[64];

	for (unsigned int i = 0; a->type == GS_ARG_SETTINGS && i < GS_NFIELDS; i++)
		if (gs_settings[i].name)
			put_arg(list, gs_settings[i].key, false, gs_setting_choice(GS_BIT(i), type),
				"");
	if (a->type == GS_ARG_SETTINGS)
		return;
	type_of(a, type);
	put_arg(list, a->name, a->needed, type, a->help);
}
