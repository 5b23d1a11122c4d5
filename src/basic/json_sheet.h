/* SPDX-License-Identifier: MIT */
/*
 * json_sheet.h - prints the same rows as a table for people or as JSON lines for programs
 *
 * Columns are declared once. A row is a JSON object. People see the columns with a heading. A
 * program gets the whole object on one line, with null for every declared key that is absent. The
 * table shows "-" for an absent key, never 0.
 */
#ifndef GPUSCHED_BASIC_JSON_SHEET_H
#define GPUSCHED_BASIC_JSON_SHEET_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define GS_COL_RIGHT (1u << 0)
#define GS_COL_TENTHS (1u << 1) /* a number with one decimal, right-aligned */
#define GS_COL_WHOLE (1u << 2)  /* a number without decimals, right-aligned */
#define GS_COL_WRAP (1u << 3)   /* the last column: its text may go on in the next line */
/* For screens (cli/screen.h): */
#define GS_COL_WIDE (1u << 4) /* only with --wide or --columns */
#define GS_COL_SAYS (1u << 5) /* left out where every row has "-" */
#define GS_COL_MANY (1u << 6) /* left out where every row has the same value */

struct gs_column {
	const char *path; /* key in the row; "is.timeslice_us" reaches into objects */
	const char *head; /* heading; NULL: only in JSON */
	unsigned int flags;
	int width; /* for streams: width to which the cell is padded */
	/* May be NULL. Makes the cell's text from the whole row (malloc'd; NULL: "-"). */
	char *(*cell)(const json_t *row);
	/* May be NULL. The cell's look on a terminal, such as "bold"; NULL: plain. */
	const char *(*colour)(const json_t *row);
	/*
	 * 0: the column is always shown. On a narrow terminal, the column with the highest number
	 * is left out first.
	 */
	unsigned char spare;
	/*
	 * 0: the text is never cut. Else longer text is cut in the middle by "...", and on a
	 * narrow terminal shorter text too.
	 */
	unsigned char most;
	const char *name; /* for --columns; NULL: @path is its name */
};

enum gs_sheet_mode {
	GS_SHEET_PLAIN,  /* rows are collected; columns are as wide as their content */
	GS_SHEET_STREAM, /* rows are printed at once, with declared widths */
	GS_SHEET_JSON,   /* rows are printed at once, one object per line */
};

struct gs_sheet;

/* @columns must outlive the table. 0 or -ENOMEM. */
int gs_sheet_new(const struct gs_column *columns, size_t n, enum gs_sheet_mode mode, FILE *out,
		 struct gs_sheet **ret);
/*
 * Adds @key with @value to each row of JSON. @value is turned into text only once. Call this before
 * the first row. 0 or -ENOMEM.
 */
int gs_sheet_tail(struct gs_sheet *t, const char *key, const json_t *value);
/*
 * Adds a row. @row is borrowed; keys that are declared and absent become null in it. 0 or -ENOMEM.
 */
int gs_sheet_row(struct gs_sheet *t, json_t *row);
/*
 * Makes the rows fit into @width characters (0: any width). Leaves out columns where that is
 * allowed, and names them in a line below. Cuts and wraps text where that is allowed. 0 or -ENOMEM.
 */
int gs_sheet_fit(struct gs_sheet *t, size_t width);
/* Replaces the words after these columns' names: how to see them. @hint must outlive the table. */
void gs_sheet_hint(struct gs_sheet *t, const char *hint);
/* Prints the collected rows; -EIO if the output cannot be written. */
int gs_sheet_end(struct gs_sheet *t);
void gs_sheet_free(struct gs_sheet *t);

/* Makes a JSON string. Bytes of @text that are not UTF-8 become '?'. NULL: out of memory. */
json_t *gs_json_text(const char *text);
/*
 * These functions put a value into @o, or null if it is unknown: @value is NULL, @text is NULL or
 * "", or @known is false. gs_json_put() takes the reference to @value.
 */
void gs_json_put(json_t *o, const char *key, json_t *value);
void gs_json_put_text(json_t *o, const char *key, const char *text);
void gs_json_put_number(json_t *o, const char *key, bool known, uint64_t value);
/* The value at a path such as "is.timeslice_us"; NULL if it is absent or null. */
json_t *gs_json_at(const json_t *row, const char *path);
/* The number at such a path; 0: absent, null or not a number. */
double gs_json_number(const json_t *row, const char *path);
/* Makes text for people, malloc'd: "-" for absent, yes/no, numbers, lists joined by commas. */
char *gs_json_cell(const json_t *value);
/* Prints one object on one line. 0 or -EIO. */
int gs_json_line(FILE *out, const json_t *object);

static inline void gs_sheet_free_(struct gs_sheet **t)
{
	gs_sheet_free(*t);
}
static inline void gs_json_decref_(json_t **j)
{
	json_decref(*j);
}
#define CLEANUP_SHEET __attribute__((cleanup(gs_sheet_free_)))
#define CLEANUP_JSON __attribute__((cleanup(gs_json_decref_)))

#endif /* GPUSCHED_BASIC_JSON_SHEET_H */
