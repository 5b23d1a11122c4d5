// SPDX-License-Identifier: MIT
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "cli/cli.h"
#include "cli/verbs_look.h"
#include "local/local.h"
#include "cli/detail.h"
#include "cli/park.h"
#include "gpusched/gpusched.h"

/* Shows the person who suspended a TSG: "alice until 14:03:22". */
static char *person(const json_t *row)
{
	const json_t *uid = gs_json_at(row, "suspended_by_uid");
	const json_t *until = gs_json_at(row, "suspended_until_ns");
	const char *who = uid ? cli_user_name((uid_t)json_integer_value(uid)) : "person";
	char when[32] = "", *text = NULL;
	struct tm tm;
	time_t at;

	if (until) {
		at = time(NULL) +
		     (time_t)((json_integer_value(until) - (json_int_t)gs_now_ns()) / 1000000000);
		strftime(when, sizeof(when), " until %T", localtime_r(&at, &tm));
	}
	return asprintf(&text, "suspended (%s%s)%s", who, when,
			json_is_true(gs_json_at(row, "reapplied")) ? ", again" : "") < 0
		       ? NULL
		       : text;
}

/* Shows why the TSG is kept off the GPU, or its state. */
static char *state(const json_t *row)
{
	const json_t *server = gs_json_at(row, "client_of");
	const json_t *runnable = gs_json_at(row, "is.runnable");
	const char *by = json_string_value(gs_json_at(row, "suspended_by"));
	const char *holder = json_string_value(gs_json_at(row, "held_by"));
	const char *how = json_string_value(gs_json_at(row, "held_how"));
	char *text = NULL;

	if (server)
		return asprintf(&text, "client of %lld", json_integer_value(server)) < 0 ? NULL
											 : text;
	if (json_is_true(gs_json_at(row, "held")))
		return asprintf(&text, "held (%s), %s", holder ? holder : "admission",
				how && !strcmp(how, "gate") ? "at the gate" : "suspended") < 0
			       ? NULL
			       : text;
	if (by && !strcmp(by, "person"))
		return person(row);
	if (by && !strcmp(by, "request") && gs_json_at(row, "held_for"))
		return asprintf(&text, "held for tsg %lld's request",
				json_integer_value(gs_json_at(row, "held_for"))) < 0
			       ? NULL
			       : text;
	if (by)
		return asprintf(&text, "suspended (%s)", by) < 0 ? NULL : text;
	if (json_is_false(runnable))
		return strdup("suspended");
	if (json_is_false(gs_json_at(row, "scheduled")))
		return strdup("idle");
	return runnable ? strdup("runnable") : NULL;
}

static const char *state_colour(const json_t *row)
{
	return json_is_true(gs_json_at(row, "held")) || gs_json_at(row, "suspended_by") ? "yellow"
											: NULL;
}

/* Shows the wanted timeslice: the one that a person set, if any, else the policy's. */
static char *wanted(const json_t *row)
{
	const json_t *manual = gs_json_at(row, "manual.timeslice_us");
	CLEANUP_FREE char *text = gs_json_cell(manual);
	char *marked = NULL;

	if (!manual)
		return gs_json_cell(gs_json_at(row, "want.timeslice_us"));
	return asprintf(&marked, "%s (%s)", text,
			json_is_true(gs_json_at(row, "reapplied")) ? "set again" : "set") < 0
		       ? NULL
		       : marked;
}

/* Shows launches. A count by the program's own agent is marked "(told)": it cannot be verified. */
static char *launched(const json_t *row)
{
	CLEANUP_FREE char *text = gs_json_cell(gs_json_at(row, "launches"));
	char *told = NULL;

	if (!text || !json_is_true(gs_json_at(row, "launches_told")))
		return TAKE_PTR(text);
	return asprintf(&told, "%s (told)", text) < 0 ? NULL : told;
}

static char *held(const json_t *row)
{
	const json_t *ns = gs_json_at(row, "gpu_time_ns");
	char *text = NULL;

	if (!ns)
		return NULL;
	return asprintf(&text, "%.1f", (double)json_integer_value(ns) / 1e9) < 0 ? NULL : text;
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

#define LAUNCHES_HEAD "LAUNCHES"
#define MEMORY_HEAD "MEM MIB"
#define REASON_HEAD "REASON"
#define INSTANCE_HEAD "GI"
#define COMPUTE_HEAD "CI"
#define NAMESPACE_HEAD "NAMESPACE"
#define POD_HEAD "POD"
#define CONTAINER_HEAD "CONTAINER"
#define DEADLINE_HEAD "DEADLINE US"
#define MISSED_HEAD "MISSED"
#define JOB_HEAD "JOB" /* job of a batch system */
#define REQUEST_HEAD "REQUEST%"
/*
 * the sum of all requests on the GPU, for a TSG that gets no promise because this sum is too large
 */
#define OVER_HEAD "OVER%"
#define LIMIT_HEAD "LIMIT%"
#define MEANS_HEAD "MEANS" /* how the policy shares the GPU; WHY: its reason */
#define WHY_HEAD "WHY"
#define SHARING_HEAD "SHARING" /* sharing that the pod's claim asks for */

static const struct gs_column columns[] = {
	{ "id", "ID", GS_COL_RIGHT },
	{ "gpu", "GPU", GS_COL_RIGHT },
	{ "pid", "PID", GS_COL_RIGHT },
	{ "uid", "USER", .cell = cli_user, .spare = 2 },
	{ "comm", "COMM" },
	{ "kind", "KIND", .spare = 7 },
	{ "engine", "ENGINE", .spare = 5 },
	{ "class", "CLASS" },
	{ "asked.timeslice_us", "ASKED", GS_COL_RIGHT, .spare = 3 },
	{ "is.timeslice_us", "IS", GS_COL_RIGHT },
	{ "want.timeslice_us", "WANT", GS_COL_RIGHT, .cell = wanted },
	{ "is.interleave", "INTERLEAVE", .spare = 9 },
	{ "is.preempt_mode", "MODE", .spare = 6 },
	{ "launches", LAUNCHES_HEAD, GS_COL_RIGHT, .cell = launched },
	{ "gpu_time_ns", "HELD", GS_COL_RIGHT, .cell = held, .spare = 4 },
	{ "memory_bytes", MEMORY_HEAD, GS_COL_RIGHT, .cell = cli_memory, .spare = 6 },
	{ "is.runnable", "STATE", .cell = state, .colour = state_colour },
	{ "known_by", "KNOWN", .spare = 8 },
	{ "assumed", "ASSUMED", .spare = 10 },
	{ "reason", REASON_HEAD, GS_COL_WRAP, .spare = 1 },
	{ "asked" },
	{ "is" },
	{ "want" },
	{ "client" },
	{ "tsg" },
};

/* Columns for --wide: names that the hardware and the driver use. */
static const struct gs_column wide_columns[] = {
	{ "tid", "TID", GS_COL_RIGHT },
	{ "gpu_instance", INSTANCE_HEAD, GS_COL_RIGHT },
	{ "compute_instance", COMPUTE_HEAD, GS_COL_RIGHT },
	{ "runlist", "RUNLIST", GS_COL_RIGHT },
	{ "hw_tsg", "HW_TSG", GS_COL_RIGHT },
	{ "namespace", NAMESPACE_HEAD, .spare = 11 },
	{ "pod", POD_HEAD, .spare = 12 },
	{ "container", CONTAINER_HEAD, .spare = 13 },
	{ "pod_uid" },
	{ "sharing", SHARING_HEAD, .spare = 14 },
	{ "client", "HCLIENT", .spare = 12 },
	{ "tsg", "HTSG", .spare = 12 },
	{ "deadline_us", DEADLINE_HEAD, GS_COL_RIGHT, .spare = 11 },
	{ "deadline_missed", MISSED_HEAD, .cell = missed, .spare = 11 },
	{ "job", JOB_HEAD, .spare = 11 },
	{ "request_pct", REQUEST_HEAD, GS_COL_RIGHT, .spare = 11 },
	{ "request_over_pct", OVER_HEAD, GS_COL_RIGHT, .spare = 11 },
	{ "limit_pct", LIMIT_HEAD, GS_COL_RIGHT, .spare = 11 },
	{ "policy_says.means", MEANS_HEAD, .spare = 12 },
	{ "policy_says.why", WHY_HEAD, .spare = 12 },
	{ "channel_list", "CHANNELS", GS_COL_WRAP, .cell = cli_channels },
};
/*
 * On a narrow terminal these columns are left out after all spare ones. The last of them goes
 * first.
 */
static const char *const give_way[] = { "STATE", "CLASS", "USER", "IS", "WANT" };

static struct gs_column *column(struct gs_column *cols, size_t n, const char *head)
{
	struct gs_column *col = cols;

	while (col < cols + n && (!col->head || strcmp(col->head, head)))
		col++;
	return col;
}

/* Hides a column if every row has "-" in it. Returns true if it did. */
/* One line for each process that was parked once: what its end may do to the host. */
static void print_restored(const json_t *rows)
{
	json_int_t last = 0, pid;
	json_t *row;
	size_t i;

	json_array_foreach((json_t *)rows, i, row) {
		pid = json_integer_value(json_object_get(row, "pid"));
		if (!json_is_true(json_object_get(row, "restored")) || pid == last)
			continue;
		last = pid;
		printf("restored: process %lld was parked and brought back; with drivers 595 and "
		       "610 hosts hung when such a process was killed\n",
		       pid);
	}
}

static bool hide_unknown(struct gs_column *cols, size_t n, const char *head, const json_t *rows)
{
	struct gs_column *col = column(cols, n, head);
	json_t *row;
	size_t i;

	json_array_foreach(rows, i, row)
		if (gs_json_at(row, col->path))
			return false;
	col->head = NULL;
	return true;
}

static const char *const may_be_unknown[] = { INSTANCE_HEAD, COMPUTE_HEAD,   NAMESPACE_HEAD,
					      POD_HEAD,      CONTAINER_HEAD, SHARING_HEAD,
					      JOB_HEAD,      REQUEST_HEAD,   OVER_HEAD,
					      LIMIT_HEAD,    MEANS_HEAD,     WHY_HEAD };

/* Makes the columns of give_way spare too, to be left out after all other spare columns. */
static void make_room(struct gs_column *cols, size_t n)
{
	for (size_t i = 0; i < n; i++)
		cols[i].spare += cols[i].spare ? GS_COUNT(give_way) : 0;
	for (size_t i = 0; i < GS_COUNT(give_way); i++)
		column(cols, n, give_way[i])->spare = (unsigned char)(i + 1);
}

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

/* Keeps compute TSGs, or all TSGs with --all, with --json, or if the user named one. */
static json_t *shown_rows(const struct cli *c, const char *target, json_t *tsgs)
{
	bool all = c->json || cli_opt(c, "all") || strstr(target, "tsg:");
	json_t *rows = json_array(), *row;
	size_t i;

	json_array_foreach(tsgs, i, row) {
		const char *kind = json_string_value(gs_json_at(row, "kind"));

		if (!all && (!kind || strcmp(kind, "compute")))
			continue;
		json_array_append(rows, row);
		if (!c->json && kind && !strcmp(kind, "compute"))
			add_clients(rows, tsgs, row);
	}
	return rows;
}

static int list_once(const struct cli *c, struct gpusched *g, const char *target)
{
	struct gs_column shown[GS_COUNT(columns) + GS_COUNT(wide_columns)];
	size_t n = GS_COUNT(columns) + (cli_opt(c, "wide") ? GS_COUNT(wide_columns) : 0);
	CLEANUP_JSON json_t *answer = NULL, *rows = NULL;
	const json_t *tsgs;
	int r;

	r = cli_request(
		g, "list",
		json_pack("{s:s,s:b}", "target", target, "wide", cli_opt(c, "wide") != NULL),
		&answer);
	if (r)
		return gs_exit_of(r);
	tsgs = json_object_get(answer, "tsgs");
	if (!json_array_size(tsgs) && strcmp(target, "all") && !cli_opt(c, "watch"))
		return cli_fail(-ENOENT, "no TSG matches %s: 'gpusched list' shows all", target);
	rows = shown_rows(c, target, json_object_get(answer, "tsgs"));
	cli_add_ended(rows, json_object_get(answer, "ended"), !c->json);
	if (!json_array_size(rows) && !json_array_size(tsgs) && !c->json)
		puts("no TSGs: no process uses a GPU");
	else if (!json_array_size(rows) && !c->json)
		printf("no compute TSGs; %zu others: 'gpusched list --all' shows them\n",
		       json_array_size(tsgs));
	memcpy(shown, columns, sizeof(columns));
	memcpy(shown + GS_COUNT(columns), wide_columns, sizeof(wide_columns));
	hide_unknown(shown, n, LAUNCHES_HEAD, rows);
	hide_unknown(shown, n, MEMORY_HEAD, rows);
	hide_unknown(shown, n, REASON_HEAD, rows);
	if (n > GS_COUNT(columns)) {
		for (size_t i = 0; i < GS_COUNT(may_be_unknown); i++)
			hide_unknown(shown, n, may_be_unknown[i], rows);
		/*
		 * hide MISSED only with DEADLINE: next to a deadline, "-" in MISSED means something
		 */
		if (hide_unknown(shown, n, DEADLINE_HEAD, rows))
			hide_unknown(shown, n, MISSED_HEAD, rows);
		make_room(shown, n);
	}
	r = cli_print_rows(c, shown, n, rows);
	if (!c->json && !strcmp(target, "all"))
		cli_print_parked(json_object_get(answer, "parked"));
	if (!c->json)
		print_restored(rows);
	if (!c->json && cli_not_done(answer))
		puts(cli_not_done(answer));
	return r;
}

/*
 * Repeats the list. On a terminal the screen is cleared before each round; elsewhere an empty line
 * separates rounds.
 */
static int watch(const struct cli *c, struct gpusched *g, const char *target)
{
	bool tty = isatty(STDOUT_FILENO);
	int code = GS_EXIT_OK;

	cli_catch_stop();
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

	r = cli_open(GS_LOCAL_READ_ONLY, &g);
	if (r)
		return gs_exit_of(r);
	return (cli_opt(c, "watch") ? watch : list_once)(c, g, target);
}
