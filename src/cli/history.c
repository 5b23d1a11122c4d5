// SPDX-License-Identifier: MIT
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/units.h"
#include "cli/cli.h"
#include "cli/verbs_look.h"
#include "local/local.h"
#include "gpusched/gpusched.h"
#include "top/cell.h"

#define DAY_S (24 * 3600)
#define WEEK_DAYS 7
#define SINCE_S DAY_S
#define MAX_S (100ull * 366 * 24 * 3600)

/* ---- times ----------------------------------------------------------------------------------- */

/* Parses a day, and returns its midnight. */
static bool parse_day(const char *text, time_t now, time_t *ret)
{
	bool yesterday = !strcmp(text, "yesterday");
	struct tm tm;

	if (!yesterday && strcmp(text, "today"))
		return false;
	localtime_r(&now, &tm);
	tm.tm_sec = tm.tm_min = tm.tm_hour = 0;
	tm.tm_mday -= yesterday;
	tm.tm_isdst = -1;
	*ret = mktime(&tm);
	return true;
}

/* Parses the zone at the end of an ISO time: "Z" or "+01:00"; "": the local clock. */
static int parse_zone(const char *text, struct tm *tm, time_t *ret)
{
	struct tm zone = { 0 };
	const char *end = *text ? strptime(text, "%z", &zone) : text;

	if (!end || *end)
		return -EINVAL;
	*ret = *text ? timegm(tm) - zone.tm_gmtoff : mktime(tm);
	return 0;
}

/*
 * Parses a time by the local clock: "07:00" is the last 07:00 that has passed; "2026-11-22 07:00"
 * is on that day.
 */
static int parse_clock(const char *text, time_t now, time_t *ret)
{
	static const char *const formats[] = {
		"%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M",
		"%Y-%m-%d",          "%H:%M:%S",          "%H:%M"
	};
	for (size_t i = 0; i < GS_COUNT(formats); i++) {
		struct tm tm;
		const char *end;

		localtime_r(&now, &tm);
		tm.tm_sec = 0;
		if (formats[i][1] == 'Y')
			tm.tm_hour = tm.tm_min = 0;
		tm.tm_isdst = -1;
		end = strptime(text, formats[i], &tm);
		if (!end || (*end && formats[i][1] != 'Y') || parse_zone(end, &tm, ret))
			continue;
		if (formats[i][1] == 'H' && *ret > now)
			*ret -= 24 * 3600;
		return 0;
	}
	return -EINVAL;
}

/* Parses "now", "@1763892000", and times ago: "7d", "1w", "1d12h", "5min". */
static int parse_ago(const char *text, time_t now, time_t *ret)
{
	static const struct {
		const char *name;
		uint64_t s;
	} units[] = { { "w", 604800 }, { "d", 86400 }, { "h", 3600 },     { "hours", 3600 },
		      { "m", 60 },     { "min", 60 },  { "minutes", 60 }, { "s", 1 } };
	uint64_t sum = 0, v;
	char *end;

	if (!strcmp(text, "now") || *text == '@') {
		*ret = now;
		if (*text == '@' && gs_parse_u64(text + 1, 0, INT64_MAX / 1000000, &sum, NULL))
			return -EINVAL;
		*ret = *text == '@' ? (time_t)sum : now;
		return 0;
	}
	do {
		size_t n, i = 0;

		if (*text < '0' || *text > '9')
			return -EINVAL;
		v = strtoull(text, &end, 10);
		n = strspn(end, "abcdefghijklmnopqrstuvwxyz");
		while (i < GS_COUNT(units) &&
		       (strlen(units[i].name) != n || strncmp(units[i].name, end, n) != 0))
			i++;
		if (i == GS_COUNT(units) || v > MAX_S / units[i].s)
			return -EINVAL;
		sum += v * units[i].s;
		text = end + n;
	} while (*text);
	if (sum > MAX_S)
		return -EINVAL;
	*ret = now - (time_t)sum;
	return 0;
}

static int parse_when(const char *name, const char *text, time_t now, time_t *ret)
{
	if (parse_day(text, now, ret) || !parse_clock(text, now, ret) || !parse_ago(text, now, ret))
		return 0;
	return cli_fail(
		-EINVAL,
		"history: --%s %s: a time such as 90m, 24h, 7d (ago), 07:00, yesterday, now, "
		"\"2026-11-22 07:00\", 2026-11-22T07:00:00Z or @SECONDS",
		name, text);
}

/* Shows a time: with the weekday if it is not today, with the date if it is a week ago. */
static char *when(const json_t *v, bool ms)
{
	time_t at = (time_t)(json_integer_value(v) / (ms ? 1000 : 1)), now = time(NULL);
	struct tm tm, today;
	char text[32];
	bool same_day;

	if (!v || !json_is_integer(v))
		return NULL;
	localtime_r(&at, &tm);
	localtime_r(&now, &today);
	same_day = tm.tm_yday == today.tm_yday && tm.tm_year == today.tm_year;
	strftime(text, sizeof(text),
		 same_day                                     ? ms ? "%T" : "%R"
		 : now - at < (WEEK_DAYS - 1) * (time_t)DAY_S ? "%a %R"
							      : "%F %R",
		 &tm);
	return strdup(text);
}

static char *ended(const json_t *row)
{
	const json_t *at = gs_json_at(row, "ended_s");

	return at ? when(at, false) : strdup("now");
}

static char *began(const json_t *row)
{
	return when(gs_json_at(row, "began_s"), false);
}

/* Shows the program's life: "Fri 13:45 to now". A day that is the same is there once. */
static char *life(const json_t *row)
{
	CLEANUP_FREE char *from = began(row), *to = ended(row);
	const char *clock = from ? strrchr(from, ' ') : NULL, *end = to;
	char *text = NULL;

	if (clock && to && !strncmp(from, to, (size_t)(clock - from) + 1))
		end = strrchr(to, ' ') + 1;
	return !from || !to || asprintf(&text, "%s to %s", from, end) < 0 ? NULL : text;
}

static char *happened(const json_t *row)
{
	return when(gs_json_at(row, "time_ms"), true);
}

/* Shows {"class":"be","done":true} as "class=be done"; false and empty values are left out. */
static char *words_of(const json_t *o)
{
	char *all = strdup("");
	const char *key;
	json_t *v;

	json_object_foreach((json_t *)o, key, v) {
		CLEANUP_FREE char *value = gs_json_cell(v), *before = NULL;

		if (!all || !value || !strcmp(value, "-") || json_is_false(v))
			continue;
		before = all;
		if (asprintf(&all, "%s%s%s%s%s", before, *before ? " " : "", key,
			     json_is_true(v) ? "" : "=", json_is_true(v) ? "" : value) < 0)
			all = NULL;
	}
	return all;
}

/* Shows an event as "class=be: done". */
static char *detail(const json_t *row)
{
	const char *text = json_string_value(gs_json_at(row, "detail"));
	const char *result = json_string_value(gs_json_at(row, "result"));
	CLEANUP_JSON json_t *o = text ? json_loads(text, 0, NULL) : NULL;
	CLEANUP_FREE char *words = o ? words_of(o) : strdup(text ? text : "");
	char *all = NULL;

	if (!words || (!*words && !result))
		return NULL;
	return asprintf(&all, "%s%s%s", words, *words && result ? ": " : "", result ? result : "") <
			       0
		       ? NULL
		       : all;
}

static char *by(const json_t *row)
{
	const json_t *uid = gs_json_at(row, "by_uid");

	return uid ? strdup(cli_screen_user_name((uid_t)json_integer_value(uid))) : NULL;
}

/* ---- how far a row can be trusted ------------------------------------------------------------ */

static char *exact(const json_t *row)
{
	json_int_t flawed = json_integer_value(gs_json_at(row, "flawed_pieces"));
	char *text = NULL;

	if (!gs_json_at(row, "gpu_time_ms"))
		return NULL;
	if (flawed && !json_is_true(gs_json_at(row, "pool")))
		return asprintf(&text, "lost in %lld of %lld", (long long)flawed,
				(long long)json_integer_value(gs_json_at(row, "pieces"))) < 0
			       ? NULL
			       : text;
	return strdup(json_is_true(gs_json_at(row, "pool"))     ? "a pool's"
		      : json_is_true(gs_json_at(row, "partly")) ? "in part"
								: "yes");
}

/*
 * Shows the row's GPUs: "0", or "0,1" if the row is for several. "0/1/0" is a MIG partition: GPU,
 * GPU instance, compute instance.
 */
static char *gpus(const json_t *row)
{
	const json_t *list = gs_json_at(row, "gpus");
	char *all = gs_json_cell(list ? list : gs_json_at(row, "gpu")), *part = NULL;
	CLEANUP_FREE char *gi = gs_json_cell(gs_json_at(row, "gpu_instance"));
	CLEANUP_FREE char *ci = gs_json_cell(gs_json_at(row, "compute_instance"));

	if (!gs_json_at(row, "gpu_instance") ||
	    asprintf(&part, "%s/%s/%s", all ? all : "-", gi ? gi : "-", ci ? ci : "-") < 0)
		return all;
	free(all);
	return part;
}

/* Shows memory in GiB times hours. */
static char *memory(const json_t *row)
{
	const json_t *mib_s = gs_json_at(row, "memory_mib_s");
	char *text = NULL;

	if (!mib_s)
		return NULL;
	return asprintf(&text, "%.2f", (double)json_integer_value(mib_s) / 1024 / 3600) < 0 ? NULL
											    : text;
}

/* ---- figures --------------------------------------------------------------------------------- */

static char *length(const json_t *row, const char *key, double unit_ns)
{
	const json_t *v = gs_json_at(row, key);
	char buf[GS_UNITS_TEXT];

	return v ? strdup(gs_units_time(json_number_value(v) * unit_ns, buf)) : NULL;
}

#define LENGTH_OF(name, key, unit_ns) \
	static char *name(const json_t *row) \
	{ \
		return length(row, key, (double)(unit_ns)); \
	}
LENGTH_OF(gpu_time, "gpu_time_ms", NS_PER_MS)
LENGTH_OF(contended, "contended_ms", NS_PER_MS)
LENGTH_OF(worked, "worked_ms", NS_PER_MS)
LENGTH_OF(used, "used_ms", NS_PER_MS)
LENGTH_OF(waited_for_others, "request_wait_ms", NS_PER_MS)
LENGTH_OF(parked, "parked_ms", NS_PER_MS)
LENGTH_OF(switching, "lost_ms", NS_PER_MS)
LENGTH_OF(free_time, "open_ms", NS_PER_MS)
LENGTH_OF(unknown, "unknown_ms", NS_PER_MS)
LENGTH_OF(late, "deadline_worst_late_us", NS_PER_US)

/* Shows how long it was paused; nothing if it never was. */
static char *paused(const json_t *row)
{
	return gs_json_number(row, "suspended_ms") > 0 ? length(row, "suspended_ms", NS_PER_MS)
						       : NULL;
}

/* Shows when it was there, and how long of that it was paused. */
static char *life_and_pauses(const json_t *row)
{
	CLEANUP_FREE char *all = life(row), *some = paused(row);
	char *text = NULL;

	if (!all || !some)
		return TAKE_PTR(all);
	return asprintf(&text, "%s, paused %s", all, some) < 0 ? NULL : text;
}

/*
 * Shows a percentile of waits. It is the upper end of the range in which it lies, so the text is
 * a range, and never smaller: "< 4.2 ms".
 */
static char *below(const json_t *row, const char *key)
{
	double us = gs_json_number(row, key), step = us >= 1 ? pow(10, floor(log10(us)) - 1) : 1;
	char buf[GS_UNITS_TEXT], *text = NULL;

	if (!gs_json_at(row, key))
		return NULL;
	gs_units_time(ceil(us / step) * step * (double)NS_PER_US, buf);
	return asprintf(&text, "< %s", buf) < 0 ? NULL : text;
}

static char *half_of_waits(const json_t *row)
{
	return below(row, "wait_p50_us");
}

static char *nearly_all_waits(const json_t *row)
{
	return below(row, "wait_p99_us");
}

static char *part(const json_t *row)
{
	const json_t *v = gs_json_at(row, "held_pct");
	char buf[GS_UNITS_TEXT];

	return v ? strdup(gs_units_percent(json_number_value(v), buf)) : NULL;
}

/* Shows the mean time of a request. */
static char *mean_request(const json_t *row)
{
	return length(row, "requests_ms", NS_PER_MS / gs_json_number(row, "requests"));
}

/* Shows a part of the time that requests took; nothing if no request was told. */
static char *part_of_requests(const json_t *row, const char *key)
{
	double all = gs_json_number(row, "requests_ms");
	char buf[GS_UNITS_TEXT];

	return all > 0 ? strdup(gs_units_percent(100 * gs_json_number(row, key) / all, buf)) : NULL;
}

static char *requests_itself(const json_t *row)
{
	return part_of_requests(row, "requests_itself_ms");
}

static char *requests_others(const json_t *row)
{
	return part_of_requests(row, "requests_others_ms");
}

static char *requests_neither(const json_t *row)
{
	return part_of_requests(row, "requests_neither_ms");
}

static char *requests_unknown(const json_t *row)
{
	return part_of_requests(row, "requests_unknown_ms");
}

/* ---- tables ---------------------------------------------------------------------------------- */

#define WIDE_RIGHT (GS_COL_RIGHT | GS_COL_WIDE)
#define GPU_COLUMN \
	{ \
		"gpu", "GPU", GS_COL_MANY, .cell = gpus \
	}
#define CLASS_COLUMN \
	{ \
		"class", "CLASS", .most = 16 \
	}
#define FIGURES \
	{ "gpu_time_ms", "GPU TIME", GS_COL_RIGHT, .cell = gpu_time }, \
		{ "held_pct", "OF ALL", GS_COL_RIGHT, .cell = part, .spare = 21 }, \
		{ "suspended_ms", "PAUSED", GS_COL_RIGHT | GS_COL_SAYS, .cell = paused, \
		  .spare = 20 }, \
		{ "wait_p99_us", "99 % OF WAITS", GS_COL_RIGHT, .cell = nearly_all_waits, \
		  .spare = 19 }, \
		{ "wait_p50_us", "HALF OF WAITS", WIDE_RIGHT, .cell = half_of_waits, .spare = 1 }, \
		{ "contended_ms", "WHILE OTHERS WAITED", WIDE_RIGHT, .cell = contended, \
		  .spare = 4 }, \
		{ "worked_ms", "~WORKED", WIDE_RIGHT, .cell = worked, .spare = 7 }, \
		{ "used_ms", "~USED", WIDE_RIGHT, .cell = used, .spare = 15 }, \
		{ "request_wait_ms", "PAUSED FOR OTHERS", WIDE_RIGHT, .cell = waited_for_others, \
		  .spare = 9 }, \
		{ "parked_ms", "PARKED", WIDE_RIGHT, .cell = parked, .spare = 14 }, \
		{ "turns", "TURNS", WIDE_RIGHT, .spare = 3 }, \
		{ "memory_mib_s", "GIB HOURS", WIDE_RIGHT, .cell = memory, .spare = 10 }, \
		{ "launches", "LAUNCHES", WIDE_RIGHT, .spare = 5 }, \
		{ "calls", "CALLS", WIDE_RIGHT, .spare = 6 }, \
		{ "deadline_missed", "MISSED", WIDE_RIGHT, .spare = 13 }, \
		{ "deadline_worst_late_us", "WORST LATE", WIDE_RIGHT, .cell = late, .spare = 14 }, \
		{ "requests", "REQUESTS", WIDE_RIGHT, .spare = 16 }, \
		{ "requests_ms", "MEAN", WIDE_RIGHT, .cell = mean_request, .spare = 17 }, \
		{ "requests_itself_ms", "ITSELF", WIDE_RIGHT, .cell = requests_itself, \
		  .spare = 11 }, \
		{ "requests_others_ms", "OTHERS", WIDE_RIGHT, .cell = requests_others, \
		  .spare = 12 }, \
		{ "requests_neither_ms", "NEITHER", WIDE_RIGHT, .cell = requests_neither, \
		  .spare = 8 }, \
		{ "requests_unknown_ms", "NOT KNOWN", WIDE_RIGHT, .cell = requests_unknown, \
		  .spare = 8 }, \
		{ "slo_missed", "LATE", WIDE_RIGHT, .spare = 13 }, \
		{ "slo_missed_others", "LATE BY OTHERS", WIDE_RIGHT, .spare = 13 }, \
		{ "policy", "POLICY", GS_COL_WIDE, .spare = 2 }, \
	{ \
		"partly", "EXACT", GS_COL_WIDE, .cell = exact \
	}

static const struct gs_column by_process[] = {
	{ "comm", "NAME", .cell = gs_cell_name, .most = 36 },
	{ "uid", "USER", .cell = cli_screen_user, .most = 24, .spare = 18 },
	{ "pid", "PID", GS_COL_RIGHT },
	{ "class", "CLASS", GS_COL_WIDE },
	GPU_COLUMN,
	FIGURES,
	{ "began_s", "BEGAN", GS_COL_WIDE, .cell = began },
	{ "ended_s", "ENDED", GS_COL_WIDE, .cell = ended },
	{ NULL, "WHEN", .cell = life, .name = "when" },
};
#define LIFE 3 /* number of columns at the end that only `history` has */

/* The columns of `history`: WHEN tells pauses, which have no column by default. */
static void fold_pauses(const struct cli *c, struct gs_column *cols, size_t n)
{
	if (cli_opt(c, "wide") || cli_opt(c, "columns"))
		return;
	for (size_t i = 0; i < n; i++)
		if (cols[i].cell == paused)
			cols[i].flags |= GS_COL_WIDE;
	cols[n - 1].cell = life_and_pauses;
	cols[n - 1].flags |= GS_COL_WRAP;
}

static const struct gs_column by_user[] = {
	{ "uid", "USER", .cell = cli_screen_user }, CLASS_COLUMN, GPU_COLUMN, FIGURES
};
static const struct gs_column by_cgroup[] = {
	{ "cgroup", "CGROUP", .most = 40 }, CLASS_COLUMN, GPU_COLUMN, FIGURES
};
static const struct gs_column by_pod[] = { { "namespace", "NAMESPACE", .most = 20 },
					   { "pod", "POD", .most = 24 },
					   CLASS_COLUMN,
					   GPU_COLUMN,
					   FIGURES,
					   { "pod_uid", "POD UID", GS_COL_WIDE, .spare = 11 } };
static const struct gs_column by_namespace[] = {
	{ "namespace", "NAMESPACE", .most = 36 }, CLASS_COLUMN, GPU_COLUMN, FIGURES
};
static const struct gs_column by_job[] = {
	{ "job", "JOB", .most = 36 }, CLASS_COLUMN, GPU_COLUMN, FIGURES
};
static const struct gs_column by_class[] = { CLASS_COLUMN, GPU_COLUMN, FIGURES };
static const struct gs_column by_gpu[] = {
	{ "gpu", "GPU", .cell = gpus },
	{ "gpu_time_ms", "GPU TIME", GS_COL_RIGHT, .cell = gpu_time },
	{ "held_pct", "OF ALL", GS_COL_RIGHT | GS_COL_MANY, .cell = part },
	{ "lost_ms", "SWITCHING", GS_COL_RIGHT, .cell = switching },
	{ "open_ms", "FREE", GS_COL_RIGHT, .cell = free_time },
	{ "unknown_ms", "UNKNOWN", WIDE_RIGHT, .cell = unknown },
	{ "turns", "SWITCHES", WIDE_RIGHT },
	{ "policy", "POLICY" },
	{ "memory_mib_s", "GIB HOURS", WIDE_RIGHT, .cell = memory },
	{ "partly", "EXACT", GS_COL_WIDE, .cell = exact },
};
static const struct gs_column by_partition[] = { { "gpu", "GPU/GI/CI", .cell = gpus },
						 CLASS_COLUMN,
						 FIGURES };
static const struct gs_column events[] = {
	{ "time_ms", "TIME", .cell = happened },
	{ "pid", "PID", GS_COL_RIGHT, .spare = 2 },
	{ "comm", "NAME", .spare = 1 },
	{ "tsg", "TSG", WIDE_RIGHT, .spare = 3 },
	{ "by_uid", "BY", .cell = by },
	{ "what", "WHAT" },
	{ "target", "TARGET", .most = 30 },
	{ "detail", "DETAIL", GS_COL_WRAP, .cell = detail },
	{ "result" },
};

static const struct {
	const char *by;
	const struct gs_column *columns;
	size_t n;
	bool of_stats; /* `stats --by` knows it, too */
} tables[] = {
	{ "process", by_process, GS_COUNT(by_process), true },
	{ "user", by_user, GS_COUNT(by_user) },
	{ "cgroup", by_cgroup, GS_COUNT(by_cgroup), true },
	{ "class", by_class, GS_COUNT(by_class), true },
	{ "gpu", by_gpu, GS_COUNT(by_gpu), true },
	{ "partition", by_partition, GS_COUNT(by_partition) },
	{ "pod", by_pod, GS_COUNT(by_pod) },
	{ "namespace", by_namespace, GS_COUNT(by_namespace) },
	{ "job", by_job, GS_COUNT(by_job) },
};

void cli_history_by(json_t *words)
{
	for (size_t i = 0; i < GS_COUNT(tables); i++)
		json_object_set_new(words, tables[i].by, json_true());
}

void cli_history_stats_by(json_t *words)
{
	for (size_t i = 0; i < GS_COUNT(tables); i++)
		if (tables[i].of_stats)
			json_object_set_new(words, tables[i].by, json_true());
}

void cli_screen_of_history(json_t *names)
{
	for (size_t i = 0; i < GS_COUNT(tables); i++)
		cli_screen_names(names, tables[i].columns, tables[i].n);
}

void cli_history_stats_columns(json_t *names)
{
	for (size_t i = 0; i < GS_COUNT(tables); i++)
		if (tables[i].of_stats)
			cli_screen_names(names, tables[i].columns, tables[i].n - (i ? 0 : LIFE));
}

/* ---- CSV: the keys of the JSON, in its order ------------------------------------------------- */

static bool is_flat(const json_t *v)
{
	return !json_is_object(v) && !json_is_array(v);
}

static void put_csv(const char *text)
{
	if (!strpbrk(text, ",\"\n\r")) {
		fputs(text, stdout);
		return;
	}
	putchar('"');
	for (; *text; text++) {
		if (*text == '"')
			putchar('"');
		putchar(*text);
	}
	putchar('"');
}

/* Prints a row, or its keys as the heading. An absent value is an empty field. */
static void put_csv_row(const json_t *row, bool heading)
{
	const char *key, *comma = "";
	json_t *v;

	json_object_foreach((json_t *)row, key, v) {
		CLEANUP_FREE char *text = NULL;

		if (!is_flat(v))
			continue;
		fputs(comma, stdout);
		comma = ",";
		if (heading)
			put_csv(key);
		else if (json_is_string(v))
			put_csv(json_string_value(v));
		else if (!json_is_null(v) &&
			 (text = json_dumps(v, JSON_ENCODE_ANY | JSON_REAL_PRECISION(12))))
			put_csv(text);
	}
	putchar('\n');
}

static void print_csv(const json_t *rows)
{
	json_t *row;
	size_t i;

	json_array_foreach((json_t *)rows, i, row) {
		if (!i)
			put_csv_row(row, true);
		put_csv_row(row, false);
	}
}

/* ---- the verb -------------------------------------------------------------------------------- */

/*
 * Adds each row's percentage of the sum over all rows, unless any row's figure is unknown. Returns
 * the sum.
 */
static double put_parts(json_t *rows)
{
	double sum = 0;
	json_t *row;
	size_t i;

	json_array_foreach(rows, i, row)
		sum += gs_json_number(row, "gpu_time_ms");
	json_array_foreach(rows, i, row) {
		double pct = 100 * gs_json_number(row, "gpu_time_ms") / sum;

		if (sum > 0 && gs_json_at(row, "gpu_time_ms"))
			json_object_set_new(row, "held_pct", json_real(round(pct * 100) / 100));
	}
	return sum;
}

/* Says which figures are not exact, and why, below a table without that column. */
static void print_flaws(const struct cli *c, const json_t *rows)
{
	size_t i, in_part = 0, lost = 0;
	json_t *row;

	json_array_foreach((json_t *)rows, i, row) {
		CLEANUP_FREE char *text = exact(row);

		in_part += text && !strcmp(text, "in part");
		lost += text && !strncmp(text, "lost", 4);
	}
	if (in_part)
		cli_screen_note(c, "%zu of these %zu rows know the GPU's time in part: see --wide",
				in_part, json_array_size(rows));
	if (lost)
		cli_screen_note(c, "%zu of these %zu rows miss lost records: see --wide", lost,
				json_array_size(rows));
}

static int print_sums(const struct cli *c, const struct gs_column *columns, size_t n, bool has_life,
		      json_t *rows)
{
	CLEANUP_FREE struct gs_column *cols = calloc(n, sizeof(*cols));

	if (!cols)
		return cli_fail(-ENOMEM, "out of memory");
	memcpy(cols, columns, n * sizeof(*cols));
	if (has_life)
		fold_pauses(c, cols, n);
	return cli_screen_table(c, cols, n, rows);
}

int cli_print_history_sums(const struct cli *c, const char *by, bool life, const json_t *answer)
{
	json_t *rows = json_object_get(answer, "rows");
	size_t i = 0, n;
	int r;

	put_parts(rows);
	while (i < GS_COUNT(tables) && strcmp(tables[i].by, by) != 0)
		i++;
	if (i == GS_COUNT(tables))
		return cli_fail(-EINVAL, "'%s' is nobody that there are sums of", by);
	n = tables[i].n - (i || life ? 0 : LIFE);
	/* in JSON each line says how its figures were obtained */
	r = c->json ? cli_screen_sort(c, tables[i].columns, n, rows)
		    : print_sums(c, tables[i].columns, n, !i && life, rows);
	if (!r && c->json)
		return cli_screen_rows_with(c, tables[i].columns, n, rows, "figures",
					    json_object_get(answer, "figures"));
	if (!r && !cli_opt(c, "wide") && !cli_opt(c, "columns"))
		print_flaws(c, rows);
	return r;
}

static int print_all_sums(const struct cli *c, const char *by, const json_t *answer)
{
	json_t *rows = json_object_get(answer, "rows");
	double ms = put_parts(rows);
	int r = cli_print_history_sums(c, by, true, answer);
	char buf[GS_UNITS_TEXT];

	if (!r && !c->json && ms > 0)
		cli_screen_note(c, "together: %s of GPU time",
				gs_units_time(ms * (double)NS_PER_MS, buf));
	return r;
}

static int print_events(const struct cli *c, json_t *rows)
{
	if (!c->json)
		return cli_screen_table(c, events, GS_COUNT(events), rows);
	return cli_screen_sort(c, events, GS_COUNT(events), rows)
		       ?: cli_screen_rows(c, events, GS_COUNT(events), rows);
}

int cli_print_history(const struct cli *c, const char *by, bool of_events, const json_t *answer)
{
	json_t *rows = json_object_get(answer, "rows");

	if (cli_opt(c, "csv")) {
		put_parts(rows);
		print_csv(rows);
		return GS_EXIT_OK;
	}
	if (!json_array_size(rows) && !c->json) {
		puts(json_is_true(json_object_get(answer, "others_hidden"))
			     ? "none of your own programs is known there: others' are root's to see"
			     : "nothing of that time is known");
		return GS_EXIT_OK;
	}
	return of_events ? print_events(c, rows) : print_all_sums(c, by, answer);
}

/* Makes the request's arguments. NULL: an error was printed. */
static json_t *make_args(const struct cli *c, const char *by)
{
	const char *since_text = cli_opt(c, "since"), *until_text = cli_opt(c, "until");
	time_t now = time(NULL), since = now - SINCE_S, until = 0;
	json_t *args;

	if ((since_text && parse_when("since", since_text, now, &since)) ||
	    (until_text && parse_when("until", until_text, now, &until)))
		return NULL;
	if (until_text && until < since) {
		cli_fail(-EINVAL, "history: --until is before --since");
		return NULL;
	}
	args = json_pack("{s:I, s:s, s:b}", "since_s", (json_int_t)since, "by", by, "changes",
			 cli_opt(c, "changes") != NULL);
	if (until_text)
		json_object_set_new(args, "until_s", json_integer(until));
	if (c->argc)
		json_object_set_new(args, "target", json_string(c->argv[0]));
	return args;
}

int cli_history(struct cli *c)
{
	const char *by = cli_opt(c, "by") ? cli_opt(c, "by") : "process";
	CLEANUP_JSON json_t *answer = NULL;
	json_t *args;
	bool of_events;
	int r;

	if (c->json && cli_opt(c, "csv"))
		return cli_fail(-EINVAL, "history: --json or --csv, not both");
	args = make_args(c, by);
	if (!args)
		return GS_EXIT_USAGE;
	of_events = cli_opt(c, "changes") || (c->argc && !strncmp(c->argv[0], "tsg:", 4));
	r = cli_ask(GS_LOCAL_READ_ONLY, "history", args, &answer);
	if (r)
		return gs_error_exit(r);
	r = cli_print_history(c, by, of_events, answer);
	/* without this note, a user would think that the rows are everybody's */
	if (!c->json && !cli_opt(c, "csv") &&
	    json_is_true(json_object_get(answer, "others_hidden")))
		cli_screen_note(c, of_events ? "what concerns other users is root's to see"
					     : "other users' programs are left out: --by class and "
					       "--by gpu sum up all");
	return r;
}
