// SPDX-License-Identifier: MIT
#include "basic/parse.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "basic/cleanup.h"

/* Reads the leading number; *ret_rest is what follows it. Signs and spaces are refused. */
static int leading_u64(const char *text, uint64_t *ret, const char **ret_rest)
{
	char *end;

	if (!isdigit((unsigned char)text[0]))
		return -EINVAL;
	errno = 0;
	*ret = strtoull(text, &end, text[0] == '0' && (text[1] | 32) == 'x' ? 16 : 10);
	if (errno)
		return -ERANGE;
	*ret_rest = end;
	return 0;
}

int gs_parse_u64(const char *text, uint64_t min, uint64_t max, uint64_t *ret, struct gs_error *err)
{
	const char *rest;
	uint64_t v = 0;
	int r;

	r = leading_u64(text, &v, &rest);
	if (r == -EINVAL || (!r && *rest))
		return gs_fail(err, -EINVAL, "'%s' is not a number", text);
	if (r || v < min || v > max)
		return gs_fail(err, -ERANGE, "%s is out of range: %" PRIu64 " to %" PRIu64, text,
			       min, max);
	*ret = v;
	return 0;
}

int gs_parse_us(const char *text, uint64_t min_us, uint64_t max_us, uint64_t *ret,
		struct gs_error *err)
{
	static const struct {
		const char *suffix;
		uint64_t us;
	} units[] = { { "", 1 }, { "us", 1 }, { "ms", 1000 }, { "s", 1000000 } };
	const char *rest;
	uint64_t v = 0;
	int r;

	r = leading_u64(text, &v, &rest);
	if (r == -EINVAL)
		return gs_fail(err, -EINVAL, "'%s' is not a time: write 20us, 2ms or 1s", text);
	for (size_t i = 0; !r && i < GS_COUNT(units); i++) {
		if (strcmp(rest, units[i].suffix))
			continue;
		if (v > UINT64_MAX / units[i].us || v * units[i].us < min_us ||
		    v * units[i].us > max_us)
			return gs_fail(err, -ERANGE,
				       "%s is out of range: %" PRIu64 " us to %" PRIu64 " us", text,
				       min_us, max_us);
		*ret = v * units[i].us;
		return 0;
	}
	if (r)
		return gs_fail(err, -ERANGE, "%s is out of range: %" PRIu64 " us to %" PRIu64 " us",
			       text, min_us, max_us);
	return gs_fail(err, -EINVAL, "'%s' is not a time: write 20us, 2ms or 1s", text);
}

int gs_parse_bool(const char *text, bool *ret, struct gs_error *err)
{
	static const char *const yes[] = { "yes", "on", "true", "1" };
	static const char *const no[] = { "no", "off", "false", "0" };

	for (size_t i = 0; i < GS_COUNT(yes); i++) {
		if (!strcasecmp(text, yes[i]) || !strcasecmp(text, no[i])) {
			*ret = !strcasecmp(text, yes[i]);
			return 0;
		}
	}
	return gs_fail(err, -EINVAL, "'%s' is neither yes nor no", text);
}

int gs_parse_double(const char *text, double min, double max, double *ret, struct gs_error *err)
{
	char *end;
	double v;

	v = strtod(text, &end);
	if (end == text || *end || isnan(v))
		return gs_fail(err, -EINVAL, "'%s' is not a number", text);
	if (v < min || v > max)
		return gs_fail(err, -ERANGE, "%s is out of range: %g to %g", text, min, max);
	*ret = v;
	return 0;
}
