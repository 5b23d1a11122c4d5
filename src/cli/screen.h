/* SPDX-License-Identifier: MIT */
/*
 * screen.h - declares the screens of `list`, `status`, `history` and `stats --by`
 *
 * By default their tables have few columns, and lines of at most 100 characters, on a terminal and
 * elsewhere.
 */
#ifndef GPUSCHED_CLI_SCREEN_H
#define GPUSCHED_CLI_SCREEN_H

#include <jansson.h>
#include <stddef.h>

#include "basic/json_sheet.h"

struct cli;

/* @names adds the names of its columns. */
#define CLI_SCREEN_OPTS(names) \
	{ "wide", 0, NULL, "all columns" }, \
		{ "columns", 0, "NAME,...", "these columns, named by their keys in --json", \
		  names }, \
	{ \
		"sort", 0, "NAME", "sort by this column: the largest number first", names \
	}

/* Adds the names of columns to an object, as its keys: each is there once, in their order. */
void cli_screen_names(json_t *names, const struct gs_column *cols, size_t n);
/* Prints @rows as a table, and not as JSON; returns an enum gs_exit. */
int cli_screen_table(const struct cli *c, const struct gs_column *cols, size_t n, json_t *rows);
/* Sorts rows by the value of --sort, if it is there; returns an enum gs_exit. */
int cli_screen_sort(const struct cli *c, const struct gs_column *cols, size_t n, json_t *rows);
/* The width of these screens: of the terminal, but at most 100. */
size_t cli_screen_width(const struct cli *c);
/* Prints a note below the table, wrapped. */
void cli_screen_note(const struct cli *c, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* ---- the columns of each, for completions ------------------------------------------------------ */

void cli_screen_of_list(json_t *names);
void cli_screen_of_status(json_t *names);
void cli_screen_of_history(json_t *names);
void cli_history_stats_columns(json_t *names);

#endif /* GPUSCHED_CLI_SCREEN_H */
