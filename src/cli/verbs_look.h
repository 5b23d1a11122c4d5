/* SPDX-License-Identifier: MIT */
/*
 * verbs_look.h - declares the verbs that show or measure
 *
 * commands.c sets them as callbacks in cli_table. Each returns an enum gs_exit.
 */
#ifndef GPUSCHED_CLI_VERBS_LOOK_H
#define GPUSCHED_CLI_VERBS_LOOK_H

#include <jansson.h>
#include <stdbool.h>

#include "basic/json_sheet.h"

struct cli;

int cli_doctor(struct cli *c);
int cli_gpus(struct cli *c);
int cli_history(struct cli *c);
int cli_list(struct cli *c);
int cli_monitor(struct cli *c);
int cli_budget(struct cli *c);
int cli_stats(struct cli *c);
int cli_status(struct cli *c);
int cli_top(struct cli *c);
int cli_trace_record(struct cli *c);
int cli_trace_export(struct cli *c);
int cli_trace_plot(struct cli *c);
int cli_advise(struct cli *c);
int cli_bench(struct cli *c);
int cli_qualify(struct cli *c);
int cli_help_cmd(struct cli *c);

/*
 * True if the policy holds no other TSG for this TSG's requests, since nobody reports them. @says:
 * the policy's report on the TSG.
 */
bool cli_status_is_untold(const json_t *says);
/* Returns why nothing was done after an answer; NULL: all was done. Not a verb. */
const char *cli_client_not_done(const json_t *answer);

/* ---- screen.c -------------------------------------------------------------------------------- */

/*
 * Options of `list`, `status`, `history` and `stats --by`. By default their tables have few columns,
 * and lines of at most 100 characters, on a terminal and elsewhere.
 */
#define CLI_SCREEN_OPTS \
	{ "wide", 0, NULL, "all columns" }, \
		{ "columns", 0, "NAME,...", "these columns, named by their keys in --json" }, \
	{ \
		"sort", 0, "NAME", "sort by this column: the largest number first" \
	}

/* Prints @rows as a table, and not as JSON; returns an enum gs_exit. */
int cli_screen_table(const struct cli *c, const struct gs_column *cols, size_t n, json_t *rows);
/* Sorts rows by the value of --sort, if it is there; returns an enum gs_exit. */
int cli_screen_sort(const struct cli *c, const struct gs_column *cols, size_t n, json_t *rows);
/* The width of these screens: of the terminal, but at most 100. */
size_t cli_screen_width(const struct cli *c);
/* Prints a note below the table, wrapped. */
void cli_screen_note(const struct cli *c, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* These print a verb's answer. */
int cli_print_list(const struct cli *c, const char *target, const json_t *answer);
int cli_print_status(const struct cli *c, const json_t *answer);
int cli_print_history(const struct cli *c, const char *by, bool of_events, const json_t *answer);

#endif /* GPUSCHED_CLI_VERBS_LOOK_H */
