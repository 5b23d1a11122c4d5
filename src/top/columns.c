// SPDX-License-Identifier: MIT
#include "top/columns.h"

#include <stdlib.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/json_sheet.h"
#include "basic/term.h"
#include "basic/units.h"
#include "top/cell.h"

#define FIRST 2           /* cells before the first column: the row's letter */
#define MOST_COLS 100     /* width of a screen that is not wide */
#define IDENTITY_COLS 128 /* least width for cgroup and command */
#define NAME_LEAST 8
#define NAME_MOST 36

static const char *text(const json_t *o, const char *key)
{
	return json_string_value(json_object_get(o, key));
}

/* The value of member @key; -1: unknown. */
static double number(const json_t *o, const char *key)
{
	const json_t *v = json_object_get(o, key);

	return json_is_number(v) ? json_number_value(v) : -1;
}

static char *formatted(double v, int digits)
{
	char *all = NULL;

	return v < 0 || asprintf(&all, "%.*f", digits, v) < 0 ? NULL : all;
}

static char *copied(const char *key_text)
{
	return key_text ? strdup(key_text) : NULL;
}

/* ---- cells: malloc'd, NULL is unknown -------------------------------------------------------- */

static char *id(const json_t *row)
{
	return formatted(number(row, "id"), 0);
}

static char *tsgs(const json_t *row)
{
	return formatted((double)json_array_size(json_object_get(row, "ids")), 0);
}

static char *pid(const json_t *row)
{
	return formatted(number(row, "pid"), 0);
}

static char *user(const json_t *row)
{
	return copied(text(row, "user"));
}

static char *class(const json_t *row)
{
	return copied(text(row, "class"));
}

/* Shows "0", or "0/1/0" for a MIG partition. */
static char *gpu(const json_t *row)
{
	CLEANUP_FREE char *part = formatted(number(row, "compute_instance"), 0);
	char *all = NULL;

	if (number(row, "gpu_instance") < 0)
		return formatted(number(row, "gpu"), 0);
	return asprintf(&all, "%.0f/%.0f/%s", number(row, "gpu"), number(row, "gpu_instance"),
			part ?: "-") < 0
		       ? NULL
		       : all;
}

static char *percent(double v, bool more)
{
	char buf[GS_UNITS_TEXT], *all = NULL;

	if (v < 0)
		return NULL;
	gs_units_percent(v, buf);
	return asprintf(&all, "%s%s", more ? "> " : "", buf) < 0 ? NULL : all;
}

static char *used(const json_t *row)
{
	return percent(gs_cell_used(row), false);
}

static char *waited(const json_t *row)
{
	return percent(gs_cell_waited(row), gs_cell_waited_more(row));
}

static char *turns(const json_t *row)
{
	return formatted(number(row, "turns_per_s"), 0);
}

static char *turn(const json_t *row)
{
	double us = number(row, "mean_turn_us");
	char buf[GS_UNITS_TEXT];

	return us < 0 ? NULL : strdup(gs_units_time(us * (double)NS_PER_US, buf));
}

static char *whole_slices(const json_t *row)
{
	return percent(number(row, "slice_ended_pct"), false);
}

static char *memory(const json_t *row)
{
	double bytes = number(row, "memory_bytes");
	char buf[GS_UNITS_TEXT];

	return bytes < 0 ? NULL : strdup(gs_units_bytes(bytes, buf));
}

static char *state(const json_t *row)
{
	return gs_cell_state(row, NULL);
}

static char *cgroup(const json_t *row)
{
	return copied(text(row, "cgroup"));
}

static char *command(const json_t *row)
{
	return copied(text(row, "command"));
}

/* ---- columns --------------------------------------------------------------------------------- */

#define RIGHT 1u
#define WIDE 2u      /* only on a wide screen */
#define GPUS 4u      /* only where rows are of several GPUs, or of partitions */
#define TSG 8u       /* only where rows are TSGs */
#define PROCESS 16u  /* only where rows are processes */
#define IDENTITY 32u /* only on a screen of IDENTITY_COLS */
#define REST 64u     /* the last column takes what is left */

static const struct column {
	const char *head;
	unsigned int width, flags;
	char *(*cell)(const json_t *row);
	unsigned char spare; /* on a narrow screen, the highest number goes first; 0: none goes */
} columns[] = {
	{ "ID", 6, RIGHT | WIDE | TSG, id, 7 },
	{ "TSGS", 4, RIGHT | WIDE | PROCESS, tsgs, 8 },
	{ "PID", 7, RIGHT, pid, 0 },
	{ "USER", 8, 0, user, 6 },
	{ "NAME", NAME_LEAST, 0, gs_cell_name, 0 },
	{ "CLASS", 8, 0, class, 2 },
	{ "GPU", 5, RIGHT | GPUS, gpu, 3 },
	{ "USED", 7, RIGHT, used, 0 },
	{ "WAITED", 7, RIGHT, waited, 1 },
	{ "TURNS/S", 7, RIGHT | WIDE, turns, 9 },
	{ "TURN", 7, RIGHT | WIDE, turn, 10 },
	{ "WHOLE SLICES", 12, RIGHT | WIDE, whole_slices, 11 },
	{ "MEMORY", 8, RIGHT, memory, 4 },
	{ "STATE", 20, 0, state, 0 },
	{ "CGROUP, POD", 24, WIDE | IDENTITY, cgroup, 12 },
	{ "COMMAND", 8, WIDE | IDENTITY | REST, command, 13 },
};
#define USED 7
#define NAME 4

static bool has_several_gpus(const json_t *rows)
{
	double first = number(json_array_get(rows, 0), "gpu");
	json_t *row;
	size_t i;

	json_array_foreach((json_t *)rows, i, row)
		if (number(row, "gpu") != first || number(row, "gpu_instance") >= 0)
			return true;
	return false;
}

static bool is_shown(const struct gs_columns *t, const struct column *c, bool gpus,
		     unsigned int cols)
{
	return (t->wide || !(c->flags & WIDE)) && (gpus || !(c->flags & GPUS)) &&
	       (!t->by_process || !(c->flags & TSG)) && (t->by_process || !(c->flags & PROCESS)) &&
	       (cols >= IDENTITY_COLS || !(c->flags & IDENTITY));
}

static unsigned int total_of(const struct gs_columns *t)
{
	unsigned int total = FIRST;

	for (size_t i = 0; i < t->n; i++)
		total += t->width[i] + (i ? 1 : 0);
	return total;
}

/* Leaves out the column that can be spared first. Returns false if none can. */
static bool leave_out(struct gs_columns *t)
{
	size_t out = 0;

	for (size_t i = 1; i < t->n; i++)
		if (columns[t->shown[i]].spare > columns[t->shown[out]].spare)
			out = i;
	if (!columns[t->shown[out]].spare)
		return false;
	snprintf(t->left_out + strlen(t->left_out), sizeof(t->left_out) - strlen(t->left_out),
		 "%s%s", *t->left_out ? ", " : "", columns[t->shown[out]].head);
	t->n--;
	memmove(&t->shown[out], &t->shown[out + 1], t->n - out);
	memmove(&t->width[out], &t->width[out + 1], (t->n - out) * sizeof(*t->width));
	return true;
}

/* The width of the longest name. */
static unsigned int name_width(const json_t *rows)
{
	unsigned int most = NAME_LEAST;
	json_t *row;
	size_t i;

	json_array_foreach((json_t *)rows, i, row) {
		CLEANUP_FREE char *name = gs_cell_name(row);
		unsigned int n = name ? (unsigned int)gs_term_columns(name) : 0;

		most = n > most ? n : most;
	}
	return most < NAME_MOST ? most : NAME_MOST;
}

void gs_columns_choose(struct gs_columns *t, const json_t *rows, unsigned int cols)
{
	bool gpus = has_several_gpus(rows);
	unsigned int name = name_width(rows), total, at = FIRST;

	cols = !t->wide && cols > MOST_COLS ? MOST_COLS : cols;
	t->n = 0;
	t->left_out[0] = '\0';
	for (size_t i = 0; i < GS_COUNT(columns); i++) {
		if (!is_shown(t, &columns[i], gpus, cols))
			continue;
		t->shown[t->n] = (unsigned char)i;
		t->width[t->n++] = columns[i].width;
	}
	while (total_of(t) > cols && leave_out(t))
		;
	total = total_of(t);
	for (size_t i = 0; i < t->n; i++) {
		if (t->shown[i] == NAME && cols > total)
			t->width[i] =
				name < NAME_LEAST + cols - total ? name : NAME_LEAST + cols - total;
		if (columns[t->shown[i]].flags & REST || (i + 1 == t->n && !t->wide))
			t->width[i] = cols > at ? cols - at : 0;
		t->at[i] = at;
		at += t->width[i] + 1;
	}
}

enum gs_style gs_columns_style(const char *class)
{
	return class && !strcmp(class, "lc")   ? GS_STYLE_LC
	       : class && !strcmp(class, "be") ? GS_STYLE_BE
					       : GS_STYLE_OTHER;
}

static enum gs_style style_of(const struct column *c, const json_t *row)
{
	if (c->cell == class)
		return gs_columns_style(text(row, "class"));
	if (c->cell != state)
		return GS_STYLE_PLAIN;
	if (gs_cell_is_paused(row))
		return GS_STYLE_BAD;
	return json_is_true(json_object_get(row, "waiting")) ? GS_STYLE_WARN : GS_STYLE_PLAIN;
}

static void put(const struct gs_columns *t, size_t i, const char *cell, enum gs_style style,
		struct gs_grid *g, unsigned int row)
{
	const struct column *c = &columns[t->shown[i]];
	CLEANUP_FREE char *cut = gs_term_shorten(cell, t->width[i]);
	size_t n = cut ? gs_term_columns(cut) : 0;
	unsigned int before =
		c->flags & RIGHT && n < t->width[i] ? t->width[i] - (unsigned int)n : 0;

	if (cut && t->width[i])
		gs_grid_put(g, row, t->at[i] + before, style, "%s", cut);
}

void gs_columns_head(const struct gs_columns *t, struct gs_grid *g, unsigned int row)
{
	for (size_t i = 0; i < t->n; i++)
		put(t, i,
		    t->shown[i] == USED && !t->samples ? "HAD GPU" : columns[t->shown[i]].head,
		    GS_STYLE_HEAD, g, row);
	gs_grid_mark(g, row, GS_STYLE_HEAD);
}

void gs_columns_row(const struct gs_columns *t, const json_t *row, struct gs_grid *g,
		    unsigned int at)
{
	for (size_t i = 0; i < t->n; i++) {
		const struct column *c = &columns[t->shown[i]];
		CLEANUP_FREE char *cell = c->cell(row);

		put(t, i, cell && *cell ? cell : "-", style_of(c, row), g, at);
	}
}
