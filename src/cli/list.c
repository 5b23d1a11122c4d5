// SPDX-License-Identifier: MIT
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/units.h"
#include "cli/cli.h"
#include "cli/verbs_look.h"
#include "local/local.h"
#include "cli/detail.h"
#include "cli/park.h"
#include "gpusched/gpusched.h"
#include "top/cell.h"

/* ---- cells ----------------------------------------------------------------------------------- */

/* Shows the person who suspended a TSG: "paused by alice until 14:03:22". */
static char *by_person(const json_t *row)
{
	const json_t *uid = gs_json_at(row, "suspended_by_uid");
	const json_t *until = gs_json_at(row, "suspended_until_ns");
	CLEANUP_FREE char *state = gs_cell_state(
		row, uid ? cli_screen_user_name((uid_t)json_integer_value(uid)) : NULL);
	char when[32] = "", *text = NULL;
	struct tm tm;
	time_t at;

	if (until) {
		at = time(NULL) +
		     (time_t)((json_integer_value(until) - (json_int_t)gs_now_ns()) / 1000000000);
		strftime(when, sizeof(when), " until %T", localtime_r(&at, &tm));
	}
	return asprintf(&text, "%s%s%s", state ?: "-", when,
			json_is_true(gs_json_at(row, "reapplied")) ? ", again" : "") < 0
		       ? NULL
		       : text;
}

static char *state(const json_t *row)
{
	const char *by = json_string_value(gs_json_at(row, "suspended_by"));

	if (!gs_json_at(row, "client_of") && !gs_json_at(row, "is.runnable") &&
	    !gs_cell_is_paused(row))
		return NULL; /* nothing is known of what it does */
	return by && !strcmp(by, "person") ? by_person(row) : gs_cell_state(row, NULL);
}

static const char *state_colour(const json_t *row)
{
	return gs_cell_is_paused(row) ? "bold" : NULL;
}

/* Shows a time in us; NULL: unknown. */
static char *us_text(const json_t *us)
{
	char buf[GS_UNITS_TEXT];

	return us ? strdup(gs_units_time(json_number_value(us) * (double)NS_PER_US, buf)) : NULL;
}

static char *own(const json_t *row)
{
	return us_text(gs_json_at(row, "asked.timeslice_us"));
}

static char *now(const json_t *row)
{
	return us_text(gs_json_at(row, "is.timeslice_us"));
}

/* Shows the slice that it has, and the one that its owner asked for if that is another one. */
static char *slice(const json_t *row)
{
	CLEANUP_FREE char *is = now(row), *asked = own(row);
	char *text = NULL;

	if (!is || !asked || !strcmp(is, asked))
		return TAKE_PTR(is);
	return asprintf(&text, "%-6s (own %s)", is, asked) < 0 ? NULL : text;
}

/* Shows the wanted timeslice: the one that a person set, if any, else the policy's. */
static char *wanted(const json_t *row)
{
	const json_t *manual = gs_json_at(row, "manual.timeslice_us");
	CLEANUP_FREE char *text = us_text(manual);
	char *marked = NULL;

	if (!manual)
		return us_text(gs_json_at(row, "want.timeslice_us"));
	return asprintf(&marked, "%s (set%s)", text ?: "-",
			json_is_true(gs_json_at(row, "reapplied")) ? " again" : "") < 0
		       ? NULL
		       : marked;
}

static char *memory(const json_t *row)
{
	const json_t *bytes = gs_json_at(row, "memory_bytes");
	char buf[GS_UNITS_TEXT];

	return bytes ? strdup(gs_units_bytes(json_number_value(bytes), buf)) : NULL;
}

/* Shows launches. A count of the program's own agent is marked: it cannot be verified. */
static char *launched(const json_t *row)
{
	CLEANUP_FREE char *text = gs_json_cell(gs_json_at(row, "launches"));
	char *told = NULL;

	if (!text || !json_is_true(gs_json_at(row, "launches_told")))
		return TAKE_PTR(text);
	return asprintf(&told, "%s (its own report)", text) < 0 ? NULL : told;
}

static char *had(const json_t *row)
{
	const json_t *ns = gs_json_at(row, "gpu_time_ns");
	char buf[GS_UNITS_TEXT];

	return ns ? strdup(gs_units_time(json_number_value(ns), buf)) : NULL;
}

/* Shows "2 of 90, 1.5 ms late" for the requests of the TSG's process. */
static char *missed(const json_t *row)
{
	const json_t *n = gs_json_at(row, "deadline_missed");
	double worst_us = json_number_value(gs_json_at(row, "deadline_worst_late_us"));
	char late[40] = "", *text = NULL;

	if (!n)
		return NULL;
	if (json_integer_value(n))
		snprintf(late, sizeof(late), ", %.1f ms late", worst_us / 1e3);
	return asprintf(&text, "%lld of %lld%s", json_integer_value(n),
			json_integer_value(gs_json_at(row, "deadline_requests")), late) < 0
		       ? NULL
		       : text;
}

static char *deadline(const json_t *row)
{
	return us_text(gs_json_at(row, "deadline_us"));
}

#define RARE (GS_COL_WIDE | GS_COL_SAYS)
#define TSG_ROW (1u << 15) /* also where rows are TSGs */
#define OF_TSG (GS_COL_WIDE | TSG_ROW)

static const struct gs_column columns[] = {
	{ "id", "ID", GS_COL_RIGHT | OF_TSG },
	{ "gpu", "GPU", GS_COL_RIGHT | GS_COL_MANY },
	{ "pid", "PID", GS_COL_RIGHT },
	{ "uid", "USER", .cell = cli_screen_user, .spare = 20, .most = 24 },
	{ "comm", "NAME", .cell = gs_cell_name, .most = 36 },
	{ "kind", "KIND", OF_TSG, .spare = 7 },
	{ "engine", "ENGINE", OF_TSG, .spare = 5 },
	{ "class", "CLASS", .most = 16 },
	{ NULL, "SLICE", .cell = slice, .name = "slice", .spare = 19 },
	{ "asked.timeslice_us", "OWN", GS_COL_RIGHT | GS_COL_WIDE, .cell = own, .spare = 3 },
	{ "is.timeslice_us", "NOW", GS_COL_RIGHT | GS_COL_WIDE, .cell = now, .spare = 2 },
	{ "want.timeslice_us", "WANTED", GS_COL_RIGHT | GS_COL_WIDE, .cell = wanted, .spare = 4 },
	{ "is.interleave", "INTERLEAVE", GS_COL_WIDE, .spare = 9 },
	{ "is.preempt_mode", "MODE", GS_COL_WIDE, .spare = 6 },
	{ "launches", "LAUNCHES", GS_COL_RIGHT | RARE, .cell = launched },
	{ "gpu_time_ns", "GPU TIME", GS_COL_RIGHT | GS_COL_WIDE, .cell = had, .spare = 4 },
	{ "memory_bytes", "MEMORY", GS_COL_RIGHT | GS_COL_SAYS, .cell = memory, .spare = 18 },
	{ NULL, "STATE", .cell = state, .colour = state_colour, .name = "state" },
	{ "known_by", "KNOWN", GS_COL_WIDE, .spare = 8 },
	{ "assumed", "ASSUMED", GS_COL_WIDE, .spare = 10 },
	{ "reason", "REASON", GS_COL_WRAP | RARE, .spare = 1 },
	{ "asked" },
	{ "is" },
	{ "want" },
	{ "client" },
	{ "tsg" },
};

/* More columns for --wide: names that the hardware and the driver use. */
static const struct gs_column wide_columns[] = {
	{ "tid", "TID", GS_COL_RIGHT | GS_COL_WIDE },
	{ "gpu_instance", "GI", GS_COL_RIGHT | RARE },
	{ "compute_instance", "CI", GS_COL_RIGHT | RARE },
	{ "runlist", "RUNLIST", GS_COL_RIGHT | GS_COL_WIDE },
	{ "hw_tsg", "HW_TSG", GS_COL_RIGHT | GS_COL_WIDE },
	{ "namespace", "NAMESPACE", RARE, .spare = 11 },
	{ "pod", "POD", RARE, .spare = 12 },
	{ "container", "CONTAINER", RARE, .spare = 13 },
	{ "pod_uid" },
	{ "sharing", "SHARING", RARE, .spare = 14 },
	{ "client", "HCLIENT", GS_COL_WIDE, .spare = 12 },
	{ "tsg", "HTSG", GS_COL_WIDE, .spare = 12 },
	{ "deadline_us", "DEADLINE", GS_COL_RIGHT | RARE, .cell = deadline, .spare = 11 },
	{ "deadline_missed", "MISSED", RARE, .cell = missed, .spare = 11 },
	{ "job", "JOB", RARE, .spare = 11 },
	{ "request_pct", "REQUEST%", GS_COL_RIGHT | RARE, .spare = 11 },
	/* the sum of all requests on the GPU, for one that gets no promise since that is too large */
	{ "request_over_pct", "OVER%", GS_COL_RIGHT | RARE, .spare = 11 },
	{ "limit_pct", "LIMIT%", GS_COL_RIGHT | RARE, .spare = 11 },
	{ "policy_says.means", "MEANS", RARE, .spare = 12 },
	{ "policy_says.why", "WHY", RARE, .spare = 12 },
	{ "channel_list", "CHANNELS", GS_COL_WRAP | GS_COL_WIDE, .cell = cli_detail_channels },
};

void cli_screen_of_list(json_t *names)
{
	cli_screen_names(names, columns, GS_COUNT(columns));
	cli_screen_names(names, wide_columns, GS_COUNT(wide_columns));
}

/* ---- below the table ------------------------------------------------------------------------- */

/* One note for each process that was parked once: what its end may do to the host. */
static void print_restored(const struct cli *c, const json_t *rows)
{
	json_int_t last = 0, pid;
	json_t *row;
	size_t i;

	json_array_foreach((json_t *)rows, i, row) {
		pid = json_integer_value(json_object_get(row, "pid"));
		if (!json_is_true(json_object_get(row, "restored")) || pid == last)
			continue;
		last = pid;
		cli_screen_note(c,
				"restored: process %lld was parked and brought back; with drivers "
				"595 and 610 hosts hung when such a process was killed",
				(long long)pid);
	}
}

/* True if STATE says all that the reason says. */
static bool is_in_state(const json_t *row, const char *reason)
{
	const char *by = json_string_value(gs_json_at(row, "suspended_by"));

	return by && (!strcmp(by, "person") || !strcmp(by, "request")) && !strchr(reason, ';');
}

/* Says once of each process why it does not run, or does not have what a policy wants. */
static void print_reasons(const struct cli *c, const json_t *rows)
{
	CLEANUP_JSON json_t *said = json_object();
	json_t *row;
	size_t i;

	json_array_foreach((json_t *)rows, i, row) {
		const char *reason = json_string_value(gs_json_at(row, "reason"));
		long long pid = json_integer_value(json_object_get(row, "pid"));
		CLEANUP_FREE char *text = NULL;

		if (!reason || is_in_state(row, reason) ||
		    asprintf(&text, "%lld: %s", pid, reason) < 0 || json_object_get(said, text))
			continue;
		json_object_set_new(said, text, json_true());
		cli_screen_note(c, "%s", text);
	}
}

/* ---- rows ------------------------------------------------------------------------------------ */

/*
 * Returns the memory that @pid, an MPS client, holds on the server's GPU. The client has its own
 * TSG for copies, and that row has the figure.
 */
static json_t *memory_of(const json_t *tsgs, const json_t *server, const json_t *pid)
{
	json_t *tsg;
	size_t i;

	json_array_foreach((json_t *)tsgs, i, tsg)
		if (pid && json_equal(json_object_get(tsg, "pid"), pid) &&
		    json_equal(json_object_get(tsg, "gpu"), json_object_get(server, "gpu")))
			return json_object_get(tsg, "memory_bytes");
	return NULL;
}

/* Adds a row for each client of an MPS server: its kernels run in the server's TSG. */
static void add_clients(json_t *rows, const json_t *tsgs, const json_t *server)
{
	const json_t *clients = gs_json_at(server, "pool.clients"), *c;
	size_t i;

	json_array_foreach((json_t *)clients, i, c) {
		const json_t *pid = json_object_get(c, "pid");
		json_t *row = json_pack("{s:O?, s:O?, s:O?, s:O?, s:O?, s:O?}", "pid", pid, "class",
					json_object_get(c, "class"), "gpu",
					gs_json_at(server, "gpu"), "uid", gs_json_at(server, "uid"),
					"client_of", gs_json_at(server, "pid"), "memory_bytes",
					memory_of(tsgs, server, pid));

		json_object_set_new(
			row, "comm",
			json_sprintf("`- %s", json_string_value(gs_json_at(c, "comm")) ?: "-"));
		json_array_append_new(rows, row);
	}
}

static bool is_kind(const json_t *tsg, const char *kind)
{
	const char *is = json_string_value(gs_json_at(tsg, "kind"));

	return is && !strcmp(is, kind);
}

static const char *pid_key(const json_t *tsg, char ret[32])
{
	snprintf(ret, 32, "%lld", (long long)json_integer_value(json_object_get(tsg, "pid")));
	return ret;
}

/* The pids of processes that compute, as keys of an object. */
static json_t *pids_that_compute(const json_t *tsgs)
{
	json_t *pids = json_object(), *tsg;
	char key[32];
	size_t i;

	json_array_foreach((json_t *)tsgs, i, tsg)
		if (is_kind(tsg, "compute"))
			json_object_set_new(pids, pid_key(tsg, key), json_true());
	return pids;
}

/* True if the TSG does its program's work: it computes, or draws for a program that only draws. */
static bool does_work(const json_t *tsg, const json_t *pids)
{
	char key[32];

	return is_kind(tsg, "compute") ||
	       (is_kind(tsg, "other") && !json_object_get(pids, pid_key(tsg, key)));
}

/* Keeps TSGs that do work, or all with --all, with --json, or if the user named one. */
static json_t *shown_rows(const struct cli *c, const char *target, const json_t *tsgs)
{
	bool all = c->json || cli_opt(c, "all") || strstr(target, "tsg:");
	CLEANUP_JSON json_t *pids = pids_that_compute(tsgs);
	json_t *rows = json_array(), *row;
	size_t i;

	json_array_foreach((json_t *)tsgs, i, row) {
		if (!all && !does_work(row, pids))
			continue;
		json_array_append(rows, row);
		if (!c->json && is_kind(row, "compute"))
			add_clients(rows, tsgs, row);
	}
	return rows;
}

/* Sets @key to the value at @path, if that is known. */
static void put_known(json_t *row, const char *key, const char *path)
{
	json_t *v = (json_t *)gs_json_at(row, path);

	if (v)
		json_object_set(row, key, v);
}

/* Gives each row the members from which status and top tell STATE, so that it is the same word. */
static void put_state_of(json_t *rows)
{
	json_t *row, *v;
	const char *key;
	size_t i;

	json_array_foreach(rows, i, row) {
		put_known(row, "held_pct", "window_10s.held_pct");
		put_known(row, "waiting", "turns.waiting");
		put_known(row, "timeslice_us", "is.timeslice_us");
		json_object_foreach((json_t *)gs_json_at(row, "want"), key, v)
			if (!json_is_null(v))
				json_object_set_new(row, "policy_acts", json_true());
	}
}

static int print_json(const struct cli *c, json_t *rows)
{
	struct gs_column all[GS_COUNT(columns) + GS_COUNT(wide_columns)];
	size_t n = GS_COUNT(columns) + (cli_opt(c, "wide") ? GS_COUNT(wide_columns) : 0);
	int r;

	memcpy(all, columns, sizeof(columns));
	memcpy(all + GS_COUNT(columns), wide_columns, sizeof(wide_columns));
	r = cli_screen_sort(c, all, n, rows);
	return r ? r : cli_screen_rows(c, all, n, rows);
}

/* Prints one row per process, or per TSG if the user asked for more than processes. */
static int print_table(const struct cli *c, const char *target, json_t *rows, const json_t *ended)
{
	struct gs_column all[GS_COUNT(columns) + GS_COUNT(wide_columns)];
	bool by_tsg = cli_opt(c, "wide") || cli_opt(c, "all") || strstr(target, "tsg:");
	CLEANUP_JSON json_t *shown = NULL;
	int r;

	put_state_of(rows);
	shown = by_tsg ? json_incref(rows) : gs_cell_processes(rows);
	gs_cell_put_order(shown);
	memcpy(all, columns, sizeof(columns));
	memcpy(all + GS_COUNT(columns), wide_columns, sizeof(wide_columns));
	for (size_t i = 0; by_tsg && i < GS_COUNT(all); i++)
		if (all[i].flags & TSG_ROW)
			all[i].flags &= ~GS_COL_WIDE;
	cli_detail_add_ended(shown, ended, true);
	r = cli_screen_table(c, all, GS_COUNT(all), shown);
	if (!r && !cli_opt(c, "wide") && !cli_opt(c, "columns"))
		print_reasons(c, rows);
	return r;
}

int cli_print_list(const struct cli *c, const char *target, const json_t *answer)
{
	const json_t *tsgs = json_object_get(answer, "tsgs");
	const json_t *ended = json_object_get(answer, "ended");
	CLEANUP_JSON json_t *rows = shown_rows(c, target, tsgs);
	int r;

	if (c->json) {
		cli_detail_add_ended(rows, ended, false);
		return print_json(c, rows);
	}
	if (!json_array_size(rows) && !json_array_size(ended))
		cli_screen_note(
			c, json_array_size(tsgs)
				   ? "no program computes or draws: 'gpusched list --all' shows "
				     "what else there is"
				   : "no program uses a GPU");
	r = print_table(c, target, rows, ended);
	if (!strcmp(target, "all"))
		cli_print_parked(c, json_object_get(answer, "parked"));
	print_restored(c, rows);
	if (cli_client_not_done(answer))
		cli_screen_note(c, "%s", cli_client_not_done(answer));
	return r;
}

static int list_once(const struct cli *c, struct gpusched *g, const char *target)
{
	CLEANUP_JSON json_t *answer = NULL;
	int r;

	r = cli_client_request(
		g, "list",
		json_pack("{s:s,s:b}", "target", target, "wide", cli_opt(c, "wide") != NULL),
		&answer);
	if (r)
		return gs_error_exit(r);
	if (!json_array_size(json_object_get(answer, "tsgs")) && strcmp(target, "all") &&
	    !cli_opt(c, "watch"))
		return cli_fail(-ENOENT, "no TSG matches %s: 'gpusched list' shows all", target);
	return cli_print_list(c, target, answer);
}

/*
 * Repeats the list. On a terminal the screen is cleared before each round; elsewhere an empty line
 * separates rounds.
 */
static int watch(const struct cli *c, struct gpusched *g, const char *target)
{
	bool tty = isatty(STDOUT_FILENO);
	int code = GS_EXIT_OK;

	cli_command_catch_stop();
	for (int round = 0; !cli_stopped && code == GS_EXIT_OK; round++) {
		if (!c->json && (tty || round))
			fputs(tty ? "\033[H\033[J" : "\n", stdout);
		code = list_once(c, g, target);
		fflush(stdout);
		if (!cli_stopped && code == GS_EXIT_OK)
			sleep(1);
	}
	return code;
}

int cli_list(struct cli *c)
{
	const char *target = c->argc ? c->argv[0] : "all";
	CLEANUP_GPUSCHED struct gpusched *g = NULL;
	int r;

	r = cli_client_open(GS_LOCAL_READ_ONLY, &g);
	if (r)
		return gs_error_exit(r);
	return (cli_opt(c, "watch") ? watch : list_once)(c, g, target);
}
