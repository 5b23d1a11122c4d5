/* SPDX-License-Identifier: MIT */
/*
 * sheet.h - one call prints a table for people or JSON lines for programs
 *
 * Columns are declared once. A row is a JSON object. People see the columns with a heading. A
 * program gets the whole object on one line, with null for every declared key that is absent. The
 * table shows "-" for it, never 0.
 */
#ifndef GPUSCHED_BASIC_SHEET_H
#define GPUSCHED_BASIC_SHEET_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define GS_COL_RIGHT (1u << 0)
#define GS_COL_TENTHS (1u << 1) /* a number with one decimal, at the right */
#define GS_COL_WHOLE (1u << 2)  /* the same with none */
#define GS_COL_WRAP (1u << 3)   /* the last column: its text may go on in the next line */

struct gs_column {
	const char *path; /* key in the row, "is.timeslice_us" reaches into objects */
	const char *head; /* heading; NULL: in JSON only */
	unsigned int flags;
	int width; /* streams only: what the cell is padded to */
	/* May be NULL. Makes the cell's text (malloc'd; NULL: "-") from the whole row. */
	char *(*cell)(const json_t *row);
	/* May be NULL. The cell's colour on a terminal: "red", "yellow"; NULL: none. */
	const char *(*colour)(const json_t *row);
	/* 0: always shown. Where a terminal is too narrow, the column with the highest goes first. */
	unsigned char spare;
};

enum gs_sheet_mode {
	GS_SHEET_PLAIN,  /* collected, columns as wide as their content */
	GS_SHEET_STREAM, /* each row at once, declared widths */
	GS_SHEET_JSON,   /* each row at once, one object a line */
};

struct gs_sheet;

/* @columns must outlive the table. 0 or -ENOMEM. */
int gs_sheet_new(const struct gs_column *columns, size_t n, enum gs_sheet_mode mode, FILE *out,
		 struct gs_sheet **ret);
/*
 * Each row of JSON ends with this member, made text only once. Call before any row. 0 or -ENOMEM.
 */
int gs_sheet_tail(struct gs_sheet *t, const char *key, const json_t *value);
/* @row is borrowed. Keys that are declared and absent are added to it as null. 0 or -ENOMEM. */
int gs_sheet_row(struct gs_sheet *t, json_t *row);
/*
 * Makes the rows fit into @width characters (0: any width). Leaves out spare columns, and names
 * them in a line below; wraps the last column if that is allowed. 0 or -ENOMEM.
 */
int gs_sheet_fit(struct gs_sheet *t, size_t width);
/* Prints what was collected; -EIO when the output cannot be written. */
int gs_sheet_end(struct gs_sheet *t);
void gs_sheet_free(struct gs_sheet *t);

/* A string; bytes of a @text that is not UTF-8 become '?'. NULL: out of memory. */
json_t *gs_json_text(const char *text);
/* Unknown becomes null: @value NULL (else its reference is taken), @text NULL or "", not @known. */
void gs_json_put(json_t *o, const char *key, json_t *value);
void gs_json_put_text(json_t *o, const char *key, const char *text);
void gs_json_put_number(json_t *o, const char *key, bool known, uint64_t value);
/* Value at a path such as "is.timeslice_us"; NULL when absent or null. */
json_t *gs_json_at(const json_t *row, const char *path);
/* The number there; 0: absent, null or no number. */
double gs_json_number(const json_t *row, const char *path);
/* Text for people, malloc'd: "-" for absent, yes/no, numbers, lists joined by commas. */
char *gs_json_cell(const json_t *value);
/* One object on one line. 0 or -EIO. */
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

#endif /* GPUSCHED_BASIC_SHEET_H */
