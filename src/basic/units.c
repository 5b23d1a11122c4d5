// SPDX-License-Identifier: MIT
#include "basic/units.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>

#include "basic/clock.h"

#define MIB 1048576.0
#define GIB (1024 * MIB)

static bool is_unknown(double v)
{
	return !(v >= 0) || isinf(v);
}

/* One decimal for figures below ten that have one: "1.5 ms", "2 ms", "200 ms". */
static char *put(double v, const char *unit, char ret[GS_UNITS_TEXT])
{
	double tenths = round(v * 10) / 10;
	int digits = tenths < 10 && tenths != floor(tenths) ? 1 : 0;

	snprintf(ret, GS_UNITS_TEXT, "%.*f %s", digits, digits ? tenths : round(v), unit);
	return ret;
}

static char *put_two(double big, const char *big_unit, double small, const char *small_unit,
		     char ret[GS_UNITS_TEXT])
{
	snprintf(ret, GS_UNITS_TEXT, "%.0f %s %02.0f %s", big, big_unit, small, small_unit);
	return ret;
}

char *gs_units_time(double ns, char ret[GS_UNITS_TEXT])
{
	double s = ns / (double)NS_PER_S, minutes = floor(round(s) / 60);

	if (is_unknown(ns))
		snprintf(ret, GS_UNITS_TEXT, "-");
	else if (ns == 0)
		snprintf(ret, GS_UNITS_TEXT, "0");
	else if (ns < (double)NS_PER_US)
		put(ns, "ns", ret);
	else if (ns < (double)NS_PER_MS)
		put(ns / (double)NS_PER_US, "us", ret);
	else if (s < 1)
		put(ns / (double)NS_PER_MS, "ms", ret);
	else if (round(s) < 60)
		put(s, "s", ret);
	else if (minutes < 10)
		put_two(minutes, "min", round(s) - minutes * 60, "s", ret);
	else if (round(s / 60) < 60)
		put(round(s / 60), "min", ret);
	else
		put_two(floor(round(s / 60) / 60), "h", fmod(round(s / 60), 60), "min", ret);
	return ret;
}

char *gs_units_bytes(double bytes, char ret[GS_UNITS_TEXT])
{
	if (is_unknown(bytes))
		snprintf(ret, GS_UNITS_TEXT, "-");
	else if (bytes == 0)
		snprintf(ret, GS_UNITS_TEXT, "0");
	else if (bytes >= GIB)
		put(bytes / GIB, "GiB", ret);
	else if (bytes < MIB)
		snprintf(ret, GS_UNITS_TEXT, "< 1 MiB");
	else
		put(bytes / MIB, "MiB", ret);
	return ret;
}

char *gs_units_percent(double percent, char ret[GS_UNITS_TEXT])
{
	if (is_unknown(percent))
		snprintf(ret, GS_UNITS_TEXT, "-");
	else if (percent > 0 && percent < 0.05)
		snprintf(ret, GS_UNITS_TEXT, "< 0.1 %%");
	else
		put(percent, "%", ret);
	return ret;
}
