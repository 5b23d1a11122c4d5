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

/* Refuses signs and spaces. */
int gs_parse_u64(const char *text, uint64_t min, uint64_t max, uint64_t *ret, struct gs_error *err)
{
	char *end = NULL;
	uint64_t v = 0;

	errno = 0;
	if (isdigit((unsigned char)text[0]))
		v = strtoull(text, &end, text[0] == '0' && (text[1] | 32) == 'x' ? 16 : 10);
	if (!end || *end)
		return gs_fail(err, -EINVAL, "'%s' is not a number", text);
	if (errno || v < min || v > max)
		return gs_fail(err, -ERANGE, "%s is out of range: %" PRIu64 " to %" PRIu64, text,
			       min, max);
	*ret = v;
	return 0;
}

#define TIME_EXAMPLES "20us, 500ms, 5s or 1h30m"

static const struct {
	const char *name;
	double us;
} spans[] = { { "h", 3.6e9 }, { "m", 6e7 }, { "s", 1e6 }, { "ms", 1e3 }, { "us", 1 } };

/* Prints a time in the largest unit that gives a whole number. */
static void print_span(uint64_t us, char ret[32])
{
	size_t i = 0;

	while (i + 1 < GS_COUNT(spans) && (!us || us % (uint64_t)spans[i].us))
		i++;
	snprintf(ret, 32, "%" PRIu64 "%s", us / (uint64_t)spans[i].us, spans[i].name);
}

/*
 * Parses "1h30m" into us: units from large to small, each at most once. -EINVAL: it has another
 * form, such as a bare number.
 */
static int parse_span(const char *text, double *ret_us)
{
	double sum = 0;
	size_t next = 0;

	do {
		char *end;
		size_t n, i = next;
		double v;

		if (!isdigit((unsigned char)*text))
			return -EINVAL;
		v = strtod(text, &end);
		n = strspn(end, "hmsu");
		while (i < GS_COUNT(spans) &&
		       (strlen(spans[i].name) != n || strncmp(spans[i].name, end, n)))
			i++;
		if (i == GS_COUNT(spans))
			return -EINVAL;
		sum += v * spans[i].us;
		next = i + 1;
		text = end + n;
	} while (*text);
	*ret_us = sum;
	return 0;
}

int gs_parse_us(const char *text, uint64_t min_us, uint64_t max_us, uint64_t *ret,
		struct gs_error *err)
{
	int r = gs_parse_u64(text, min_us, max_us, ret, NULL);
	bool bare = r != -EINVAL;
	char from[32], to[32];
	double us;

	if (r == -EINVAL && !parse_span(text, &us)) {
		r = us < (double)min_us || us > (double)max_us ? -ERANGE : us != floor(us) ? r : 0;
		if (!r)
			*ret = (uint64_t)us;
	}
	if (r == -ERANGE) {
		print_span(min_us, from);
		print_span(max_us, to);
		return gs_fail(err, r, "%s%s is out of range: %s to %s", text, bare ? " us" : "",
			       from, to);
	}
	return r ? gs_fail(err, r, "'%s' is not a time: write " TIME_EXAMPLES, text) : 0;
}

int gs_parse_length(const char *text, uint64_t min_us, uint64_t max_us, uint64_t *ret,
		    struct gs_error *err)
{
	char with_unit[64];

	if (*text && strspn(text, "0123456789.") == strlen(text) &&
	    snprintf(with_unit, sizeof(with_unit), "%ss", text) < (int)sizeof(with_unit))
		text = with_unit;
	return gs_parse_us(text, min_us, max_us, ret, err);
}

double gs_parse_unit(const char *name)
{
	static const struct {
		const char *end;
		double us;
	} units[] = { { "ns", 1e-3 }, { "us", 1 }, { "ms", 1e3 }, { "s", 1e6 } };
	size_t len = strcspn(name, "=");

	for (size_t i = 0; i < GS_COUNT(units); i++) {
		size_t n = strlen(units[i].end);

		if (len > n && strchr("_-", name[len - n - 1]) &&
		    !strncmp(name + len - n, units[i].end, n))
			return units[i].us;
	}
	return 0;
}

/* Rounds to the nearest whole number, without libm: other programs link this. */
static double whole(double x)
{
	return x < 0x1p52 ? (double)(uint64_t)(x + 0.5) : x;
}

int gs_parse_u64_in(double unit_us, const char *text, uint64_t min, uint64_t max, uint64_t *ret,
		    struct gs_error *err)
{
	double us;
	int r = gs_parse_u64(text, min, max, ret, NULL);

	if (r != -EINVAL || unit_us == 0 || parse_span(text, &us))
		return r ? gs_parse_u64(text, min, max, ret, err) : 0;
	us = whole(us / unit_us * 1e6) / 1e6; /* so that 0.3ms becomes 300 us */
	if (us < (double)min || us > (double)max)
		return gs_fail(err, -ERANGE, "%s is out of range: %" PRIu64 " to %" PRIu64, text,
			       min, max);
	if (us != floor(us))
		return gs_fail(err, -EINVAL, "'%s' is not a whole number of its unit", text);
	*ret = (uint64_t)us;
	return 0;
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

int gs_parse_double_in(double unit_us, const char *text, double min, double max, double *ret,
		       struct gs_error *err)
{
	double us;

	if (unit_us == 0 || parse_span(text, &us))
		return gs_parse_double(text, min, max, ret, err);
	if (us / unit_us < min || us / unit_us > max)
		return gs_fail(err, -ERANGE, "%s is out of range: %g to %g", text, min, max);
	*ret = us / unit_us;
	return 0;
}

int gs_parse_bytes(const char *text, uint64_t max, uint64_t *ret, struct gs_error *err)
{
	static const char units[] = "KMGT";
	const char *unit;
	char *end = NULL;
	double n = isdigit((unsigned char)*text) ? strtod(text, &end) : 0;

	unit = end && *end ? strchr(units, toupper((unsigned char)*end)) : NULL;
	if (!unit || (end[1] && strcasecmp(end + 1, "B") && strcasecmp(end + 1, "iB")))
		return gs_fail(err, -EINVAL, "'%s' is not a size: write 512M, 40G or 1.5T", text);
	n *= (double)(1024ull << 10 * (unit - units));
	if (n < 1 || n > (double)max)
		return gs_fail(err, -ERANGE, "%s is out of range: 1K to %.0fG", text,
			       (double)max / (double)(1ull << 30));
	*ret = (uint64_t)n;
	return 0;
}
