// SPDX-License-Identifier: MIT
/*
 * options.c - sets a policy's options from "-o key=value", with types and ranges
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/parse.h"
#include "policy/priv.h"

static void type_range(const struct gpusched_option_desc *d, uint64_t *min, uint64_t *max)
{
	unsigned int bits = d->size * 8;

	if (d->min || d->max) {
		*min = d->min;
		*max = d->max;
	} else if (d->size == 1) { /* gs_bool */
		*min = 0;
		*max = 1;
	} else if (d->is_signed) {
		*min = (uint64_t)(bits == 64 ? INT64_MIN : -(1ll << (bits - 1)));
		*max = bits == 64 ? INT64_MAX : (1ull << (bits - 1)) - 1;
	} else {
		*min = 0;
		*max = bits == 64 ? UINT64_MAX : (1ull << bits) - 1;
	}
}

int gs_options_read(const struct gpusched_option_desc *d, size_t n, struct gs_policy_info *info)
{
	info->options = calloc(n ? n : 1, sizeof(*info->options));
	if (!info->options)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		struct gs_policy_option *o = &info->options[i];

		if (d[i].size != 1 && d[i].size != 4 && d[i].size != 8)
			return -EINVAL;
		snprintf(o->name, sizeof(o->name), "%.31s", d[i].name);
		snprintf(o->type, sizeof(o->type), "%.15s", d[i].type);
		snprintf(o->help, sizeof(o->help), "%.119s", d[i].help);
		o->size = d[i].size;
		o->is_signed = d[i].is_signed;
		o->def = o->value = d[i].def;
		type_range(&d[i], &o->min, &o->max);
	}
	info->noptions = n;
	return 0;
}

static bool in_order(const struct gs_policy_option *o, uint64_t a, uint64_t b)
{
	return o->is_signed ? (int64_t)a <= (int64_t)b : a <= b;
}

int gs_options_vet(const struct gs_policy_info *info, struct gs_error *err)
{
	for (size_t i = 0; i < info->noptions; i++) {
		const struct gs_policy_option *o = &info->options[i];

		if (!strcmp(o->type, "double") || !strcmp(o->type, "float"))
			return gs_fail(err, -EINVAL,
				       "policy %s: option %s is a %s: gs_u32, gs_s32, gs_u64, "
				       "gs_s64 and gs_bool are offered",
				       info->name, o->name, o->type);
		if (!in_order(o, o->min, o->def) || !in_order(o, o->def, o->max))
			return gs_fail(err, -EINVAL,
				       "policy %s: the default of option %s is out of its own "
				       "range, or that is empty",
				       info->name, o->name);
	}
	return 0;
}

static int no_option(const struct gs_policy_info *info, const char *key, struct gs_error *err)
{
	char names[256] = "";

	for (size_t i = 0; i < info->noptions; i++) {
		size_t at = strlen(names);

		snprintf(names + at, sizeof(names) - at, "%s%s", i ? ", " : "",
			 info->options[i].name);
	}
	return gs_fail(err, -EINVAL, "policy %s has no option '%s': it has %s", info->name, key,
		       info->noptions ? names : "none");
}

/* Like gs_parse_u64(), but for signed numbers. */
static int parse_signed(const char *text, int64_t min, int64_t max, int64_t *ret)
{
	const char *digits = text + (*text == '-');
	char *end;
	long long v;

	if (!isdigit((unsigned char)*digits))
		return -EINVAL;
	errno = 0;
	v = strtoll(text, &end, digits[0] == '0' && (digits[1] | 32) == 'x' ? 16 : 10);
	if (*end)
		return -EINVAL;
	if (errno == ERANGE || v < min || v > max)
		return -ERANGE;
	*ret = v;
	return 0;
}

static int set_number(struct gs_policy_option *o, const char *text, struct gs_error *err)
{
	int64_t sv = 0;
	int r;

	if (!o->is_signed) {
		struct gs_error inner = { 0 };

		r = gs_parse_u64_in(gs_parse_unit(o->name), text, o->min, o->max, &o->value,
				    &inner);
		if (r == -ERANGE)
			return gs_fail(err, r,
				       "option %s=%s is out of range: %" PRIu64 " to %" PRIu64,
				       o->name, text, o->min, o->max);
		return r < 0 ? gs_fail(err, r,
				       "option %s takes a number, %" PRIu64 " to %" PRIu64
				       ", not '%s'",
				       o->name, o->min, o->max, text)
			     : 0;
	}
	r = parse_signed(text, (int64_t)o->min, (int64_t)o->max, &sv);
	if (r == -ERANGE)
		return gs_fail(err, r, "option %s=%s is out of range: %" PRId64 " to %" PRId64,
			       o->name, text, (int64_t)o->min, (int64_t)o->max);
	if (r < 0)
		return gs_fail(err, r,
			       "option %s takes a number, %" PRId64 " to %" PRId64 ", not '%s'",
			       o->name, (int64_t)o->min, (int64_t)o->max, text);
	o->value = (uint64_t)sv;
	return 0;
}

int gs_option_set(struct gs_policy_info *info, const char *assignment, struct gs_error *err)
{
	const char *eq = strchr(assignment, '=');
	char key[64];
	bool yes;

	if (!eq || eq == assignment || (size_t)(eq - assignment) >= sizeof(key))
		return gs_fail(err, -EINVAL, "option '%s' is not key=value", assignment);
	snprintf(key, sizeof(key), "%.*s", (int)(eq - assignment), assignment);
	for (size_t i = 0; i < info->noptions; i++) {
		struct gs_policy_option *o = &info->options[i];

		if (strcmp(o->name, key))
			continue;
		if (strcmp(o->type, "gs_bool") && strcmp(o->type, "bool") &&
		    strcmp(o->type, "_Bool"))
			return set_number(o, eq + 1, err);
		if (gs_parse_bool(eq + 1, &yes, NULL) < 0)
			return gs_fail(err, -EINVAL, "option %s takes yes or no, not '%s'", key,
				       eq + 1);
		o->value = yes;
		return 0;
	}
	return no_option(info, key, err);
}

int gs_options_set(struct gs_policy_info *info, const char *const *options, size_t n,
		   struct gs_error *err)
{
	for (size_t i = 0; i < n; i++) {
		int r = gs_option_set(info, options[i], err);

		if (r < 0)
			return r;
	}
	return 0;
}
