// SPDX-License-Identifier: MIT
#include "top/cell.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/json_sheet.h"
#include "basic/units.h"

#define ORDER_KEY "order" /* a row's member: whether it comes first */
#define MOSTLY_PCT 90 /* from this percentage of turns that the slice ended, all waits are seen */

static double number(const json_t *o, const char *key)
{
	const json_t *v = json_object_get(o, key);

	return json_is_number(v) ? json_number_value(v) : -1;
}

static const char *text(const json_t *o, const char *key)
{
	return json_string_value(json_object_get(o, key));
}

/* ---- processes ------------------------------------------------------------------------------- */

/*
 * Adds a figure of @from to that of @to. An unknown figure counts as 0; if both are unknown, so is
 * the sum.
 */
static void add_number(json_t *to, const json_t *from, const char *key)
{
	double a = number(to, key), b = number(from, key);

	if (b >= 0)
		json_object_set_new(to, key, json_real((a < 0 ? 0 : a) + b));
}

void gs_cell_merge(json_t *to, const json_t *from)
{
	static const char *const sums[] = { "held_pct", "waited_pct", "turns_per_s" };
	static const char *const states[] = { "waiting", "overruled", "policy_acts", "held" };
	/* only a TSG that is alone has these estimates */
	static const char *const estimates[] = { "work_estimated_pct", "alone_pct" };

	for (size_t i = 0; i < GS_COUNT(sums); i++)
		add_number(to, from, sums[i]);
	for (size_t i = 0; i < GS_COUNT(states); i++)
		if (json_is_true(json_object_get(from, states[i])))
			json_object_set_new(to, states[i], json_true());
	if (text(from, "suspended_by"))
		json_object_set(to, "suspended_by", json_object_get(from, "suspended_by"));
	for (size_t i = 0; number(from, "work_estimated_pct") >= 0 && i < GS_COUNT(estimates); i++)
		json_object_set(to, estimates[i], json_object_get(from, estimates[i]));
	json_array_extend(json_object_get(to, "ids"), json_object_get(from, "ids"));
	json_object_set_new(to, "mean_turn_us", json_null());
	if (number(from, "slice_ended_pct") < number(to, "slice_ended_pct"))
		json_object_set(to, "slice_ended_pct", json_object_get(from, "slice_ended_pct"));
}

json_t *gs_cell_processes(const json_t *rows)
{
	CLEANUP_JSON json_t *index = json_object(); /* there may be thousands */
	json_t *all = json_array(), *row, *same;
	char key[64];
	size_t i;

	json_array_foreach((json_t *)rows, i, row) {
		snprintf(key, sizeof(key), "%.0f %.0f", number(row, "pid"), number(row, "gpu"));
		same = number(row, "pid") >= 0 ? json_object_get(index, key) : NULL;
		if (same) {
			gs_cell_merge(same, row);
			continue;
		}
		row = json_copy(row);
		json_object_set(index, key, row);
		json_array_append_new(all, row);
	}
	return all;
}

/* ---- figures --------------------------------------------------------------------------------- */

double gs_cell_used(const json_t *row)
{
	double held = number(row, "held_pct"), alone = number(row, "alone_pct");
	double work = number(row, "work_estimated_pct");

	if (held < 0 || alone < 0 || work < 0)
		return held;
	return fmax(0, held - alone * (1 - work / 100));
}

char *gs_cell_span(const json_t *gpu)
{
	char buf[GS_UNITS_TEXT], *all = NULL;

	if (number(gpu, "held_pct") < 0 || number(gpu, "span_ms") < 0)
		return NULL;
	gs_units_time(number(gpu, "span_ms") * (double)NS_PER_MS, buf);
	return asprintf(&all, "last %s", buf) < 0 ? NULL : all;
}

bool gs_cell_has_samples(const json_t *gpu)
{
	return number(gpu, "idle_pct") >= 0;
}

double gs_cell_waited(const json_t *row)
{
	return number(row, "waited_pct");
}

bool gs_cell_waited_more(const json_t *row)
{
	double ended = number(row, "slice_ended_pct");

	return ended >= 0 && ended < MOSTLY_PCT;
}

/* ---- the order of programs ------------------------------------------------------------------- */

static bool is_lc(const json_t *row)
{
	return !strcmp(text(row, "class") ?: "", "lc");
}

/* Policies leave copy TSGs alone. */
static bool is_copy(const json_t *row)
{
	const char *kind = json_string_value(json_object_get(row, "kind"));

	return kind && !strcmp(kind, "copy");
}

/* True if each other program on this service's GPU has shorter turns than it, or is paused. */
static bool comes_first(const json_t *rows, const json_t *lc)
{
	size_t i, others = 0;
	json_t *row;

	json_array_foreach((json_t *)rows, i, row) {
		if (is_lc(row) || is_copy(row) || number(row, "gpu") != number(lc, "gpu"))
			continue;
		others++;
		if (!gs_cell_is_paused(row) &&
		    !(number(row, "timeslice_us") < number(lc, "timeslice_us")))
			return false;
	}
	return others;
}

void gs_cell_put_order(json_t *rows)
{
	CLEANUP_JSON json_t *known = json_object(); /* by GPU: true if services come first */
	json_t *row, *first;
	char key[32];
	size_t i;

	json_array_foreach(rows, i, row) {
		snprintf(key, sizeof(key), "%.0f", number(row, "gpu"));
		if (is_lc(row) && json_is_true(json_object_get(row, "policy_acts")) &&
		    !json_object_get(known, key))
			json_object_set_new(known, key, json_boolean(comes_first(rows, row)));
	}
	json_array_foreach(rows, i, row) {
		snprintf(key, sizeof(key), "%.0f", number(row, "gpu"));
		first = json_object_get(known, key);
		if (json_is_true(first) && !is_copy(row))
			json_object_set_new(
				row, ORDER_KEY,
				json_string(is_lc(row) ? "comes first" : "gets the rest"));
	}
}

/* ---- words ----------------------------------------------------------------------------------- */

bool gs_cell_is_paused(const json_t *row)
{
	return json_is_true(json_object_get(row, "held")) || text(row, "suspended_by") ||
	       json_is_false(gs_json_at(row, "is.runnable"));
}

/* Says that it is paused, with "by" or "for". */
static char *paused(const json_t *row, const char *who)
{
	const char *by = text(row, "suspended_by") ?: "", *holder = text(row, "held_by");
	char *all = NULL;

	if (json_is_true(json_object_get(row, "held")) || !strcmp(by, "admission"))
		return asprintf(&all, "not admitted%s%s", holder ? " by " : "", holder ?: "") < 0
			       ? NULL
			       : all;
	if (!strcmp(by, "request"))
		return strdup("paused for a request");
	if (!strcmp(by, "budget"))
		return strdup("paused: budget used up");
	who = !strcmp(by, "policy") ? "the policy" : who ? who : *by ? "a person" : NULL;
	return asprintf(&all, "paused%s%s", who ? " by " : "", who ?: "") < 0 ? NULL : all;
}

char *gs_cell_state(const json_t *row, const char *who)
{
	const json_t *server = json_object_get(row, "client_of");
	char *all = NULL;

	if (json_is_integer(server))
		return asprintf(&all, "client of %lld", (long long)json_integer_value(server)) < 0
			       ? NULL
			       : all;
	if (gs_cell_is_paused(row) && json_is_true(gs_json_at(row, "turns.loaded")))
		return strdup("leaving the GPU"); /* its suspension did not wait for that */
	if (gs_cell_is_paused(row))
		return paused(row, who);
	if (text(row, ORDER_KEY))
		return strdup(text(row, ORDER_KEY));
	if (json_is_true(json_object_get(row, "waiting")))
		return strdup("waits");
	if (json_is_false(json_object_get(row, "scheduled")) || number(row, "held_pct") == 0)
		return strdup("idle");
	return strdup("runs");
}

char *gs_cell_name(const json_t *row)
{
	const char *pod = text(row, "pod"), *container = text(row, "container");
	const char *space = text(row, "namespace"), *comm = text(row, "comm");
	char *all = NULL;

	if (!pod)
		return comm ? strdup(comm) : NULL;
	return asprintf(&all, "%s%s%s%s%s", space ?: "", space ? "/" : "", pod,
			container ? "/" : "", container ?: "") < 0
		       ? NULL
		       : all;
}
