// SPDX-License-Identifier: MIT
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/parse.h"
#include "cli/cli.h"
#include "cli/verbs_look.h"
#include "gpusched/gpusched.h"
#include "cli/detail.h"
#include "cli/filter.h"
#include "gpusched/abi.h"
#include "local/ask.h"
#include "table/events.h"

struct monitor {
	struct gs_sheet *table;
	struct cli_filter *filter; /* NULL: all events pass */
	struct cli_detail *detail; /* NULL: without --verbose */
	uint64_t limit, seen;
	uint64_t first_ns;
	uint64_t counts[GPUSCHED_EV_MAX], others;
	int error;
	bool json;
	bool ended; /* the daemon ended */
};

/* The time of the first event, from which TIME_S counts. */
static uint64_t epoch_ns;

static char *when(const json_t *row)
{
	const json_t *ns = json_object_get(row, "time_ns");
	char *text = NULL;

	if (!ns)
		return NULL;
	return asprintf(&text, "%.6f",
			((double)json_integer_value(ns) - (double)epoch_ns) / (double)NS_PER_S) < 0
		       ? NULL
		       : text;
}

/* Shows facts that have no column: the result of a call, a class, a policy's name. */
static char *rest(const json_t *row)
{
	static const char *const shown[] = {
		"time_ns",      "event",   "pid",    "comm",         "client",       "tsg", "id",
		"engine",       "kind",    "gpu",    "gpu_uuid",     "gpu_pci",      "cpu", "tid",
		"time_unix_ns", "runlist", "hw_tsg", "channel_list", "timeslice_us",
	};
	CLEANUP_FREE char *all = strdup("");
	const char *key;
	json_t *v;

	json_object_foreach((json_t *)row, key, v) {
		CLEANUP_FREE char *cell = NULL;
		char *longer = NULL;
		bool known = json_is_null(v);

		for (size_t i = 0; i < GS_COUNT(shown); i++)
			known |= !strcmp(key, shown[i]);
		if (known)
			continue;
		cell = gs_json_cell(v);
		if (!all || !cell ||
		    asprintf(&longer, "%s%s%s=%s", all, *all ? " " : "", key, cell) < 0)
			return NULL;
		free(all);
		all = longer;
	}
	return all && *all ? TAKE_PTR(all) : NULL;
}

static const struct gs_column columns[] = {
	{ "time_ns", "TIME_S", GS_COL_RIGHT, 12, when },
	{ "event", "EVENT", 0, 12 },
	{ "pid", "PID", GS_COL_RIGHT, 8 },
	{ "comm", "COMM", 0, 15 },
	{ "id", "ID", GS_COL_RIGHT, 6 },
	{ "client", "CLIENT", 0, 10 },
	{ "tsg", "TSG", 0, 10 },
	{ "gpu", "GPU", GS_COL_RIGHT, 3 },
	{ "engine", "ENGINE", 0, 6 },
	{ "timeslice_us", "TIMESLICE_US", GS_COL_RIGHT, 12 },
	{ NULL, "MORE", 0, 0, rest },
};

/* The columns that --verbose adds. */
static const struct gs_column verbose_columns[] = {
	{ "time_unix_ns", "CLOCK", 0, 15, cli_detail_clock },
	{ "event", "EVENT", 0, 12 },
	{ "cpu", "CPU", GS_COL_RIGHT, 4 },
	{ "pid", "PID", GS_COL_RIGHT, 8 },
	{ "tid", "TID", GS_COL_RIGHT, 8 },
	{ "comm", "COMM", 0, 15 },
	{ "id", "ID", GS_COL_RIGHT, 6 },
	{ "client", "CLIENT", 0, 10 },
	{ "tsg", "TSG", 0, 10 },
	{ "gpu", "GPU", GS_COL_RIGHT, 3 },
	{ "engine", "ENGINE", 0, 6 },
	{ "runlist", "RUNLIST", GS_COL_RIGHT, 7 },
	{ "hw_tsg", "HW_TSG", GS_COL_RIGHT, 6 },
	{ "channel_list", "CHANNELS", 0, 15, cli_detail_channels },
	{ "timeslice_us", "TIMESLICE_US", GS_COL_RIGHT, 12 },
	{ NULL, "MORE", 0, 0, rest },
};

static int on_event(const json_t *row, void *user)
{
	struct monitor *m = user;
	const char *name = json_string_value(json_object_get(row, "event"));
	size_t i;

	if (cli_stopped)
		return 1;
	if (!name || !cli_filter_match(m->filter, row))
		return 0;
	for (i = 1; i < GPUSCHED_EV_MAX && strcmp(gs_event_name(i), name); i++)
		;
	if (i < GPUSCHED_EV_MAX)
		m->counts[i]++;
	else
		m->others++;
	if (!m->seen++)
		epoch_ns = (uint64_t)json_integer_value(json_object_get(row, "time_ns"));
	cli_detail_add(m->detail, (json_t *)row);
	/* events leave out keys that do not apply, so no nulls are added for them */
	m->error = m->json ? gs_json_line(stdout, row) || fflush(stdout) ? -EIO : 0
			   : gs_sheet_row(m->table, (json_t *)row);
	return m->error || (m->limit && m->seen >= m->limit);
}

/* Prints the summary; in JSON it is a last object with "event":"summary". */
static int summary(const struct monitor *m, uint64_t ns)
{
	CLEANUP_JSON json_t *all = json_object(), *by = json_object();

	for (size_t i = 1; i < GPUSCHED_EV_MAX; i++)
		if (m->counts[i])
			json_object_set_new(by, gs_event_name(i), json_integer(m->counts[i]));
	if (m->others)
		json_object_set_new(by, "other", json_integer(m->others));
	if (m->json) {
		json_object_set_new(all, "event", json_string("summary"));
		json_object_set_new(all, "events", json_integer(m->seen));
		json_object_set_new(all, "time_us", json_integer(ns / NS_PER_US));
		json_object_set(all, "by_event", by);
		return gs_json_line(stdout, all);
	}
	printf("\n%" PRIu64 " events in %.1f s", m->seen, (double)ns / NS_PER_S);
	for (size_t i = 1; i < GPUSCHED_EV_MAX; i++)
		if (m->counts[i])
			printf(", %s %" PRIu64, gs_event_name(i), m->counts[i]);
	if (m->others)
		printf(", other %" PRIu64, m->others);
	putchar('\n');
	return 0;
}

static int watch(struct gpusched *g, struct monitor *m, uint64_t for_us)
{
	uint64_t end = for_us ? gs_now_ns() + for_us * NS_PER_US : 0;

	/* waits for short times, so that a signal between two events ends the loop too */
	while (!cli_stopped && !m->error && (!m->limit || m->seen < m->limit)) {
		uint64_t now = gs_now_ns(), slice = 200000;
		int r;

		if (end && now >= end)
			return 0;
		if (end && (end - now) / NS_PER_US < slice)
			slice = (end - now) / NS_PER_US + 1;
		r = gs_ask_watch(g, on_event, m, slice);
		if (!r)
			m->ended = true;
		if (!r || (r < 0 && r != -ETIMEDOUT && r != -EINTR))
			return r;
	}
	return m->error;
}

static int new_table(bool verbose, struct gs_sheet **ret)
{
	return verbose ? gs_sheet_new(verbose_columns, GS_COUNT(verbose_columns), GS_SHEET_STREAM,
				      stdout, ret)
		       : gs_sheet_new(columns, GS_COUNT(columns), GS_SHEET_STREAM, stdout, ret);
}

int cli_monitor(struct cli *c)
{
	struct monitor m = { .json = c->json };
	CLEANUP_GPUSCHED struct gpusched *g = NULL;
	CLEANUP_SHEET struct gs_sheet *table = NULL;
	CLEANUP(cli_filter_freep) struct cli_filter *filter = NULL;
	CLEANUP(cli_detail_freep) struct cli_detail *detail = NULL;
	uint64_t for_us = 0, began;
	struct gs_error err = {};
	int r = 0;

	if (cli_opt(c, "for"))
		r = gs_parse_length(cli_opt(c, "for"), 1000, 86400000000ull, &for_us, &err);
	if (!r && cli_opt(c, "count"))
		r = gs_parse_u64(cli_opt(c, "count"), 1, UINT32_MAX, &m.limit, &err);
	if (r)
		return cli_fail(r, "monitor: %s", err.text);
	if (c->argc && strcmp(c->argv[0], "all"))
		r = cli_filter_new(c->argv[0], &filter);
	if (!r && cli_opt(c, "verbose"))
		r = cli_detail_new(&detail);
	if (!r)
		r = cli_client_open(0, &g);
	if (r)
		return gs_error_exit(r);
	m.filter = filter;
	m.detail = detail;
	cli_command_catch_stop();
	if (!c->json && new_table(detail != NULL, &table))
		return cli_fail(-ENOMEM, "out of memory");
	m.table = table;
	began = gs_now_ns();
	r = watch(g, &m, for_us);
	if (r)
		return cli_fail(r, "monitor: %s",
				*gpusched_error(g) ? gpusched_error(g) : strerror(-r));
	if (summary(&m, gs_now_ns() - began))
		return GS_EXIT_FAILED;
	return m.ended ? cli_fail(-EPIPE, "monitor: the daemon ended") : GS_EXIT_OK;
}
