/* SPDX-License-Identifier: MIT */
/*
 * layout.h - draws the screen of `gpusched top`
 *
 * Pure: makes a grid from figures and the user's choices. An unknown figure is shown as "-".
 */
#ifndef GPUSCHED_TOP_LAYOUT_H
#define GPUSCHED_TOP_LAYOUT_H

#include <jansson.h>

#include "top/grid.h"
#include "top/strip.h"

enum gs_top_sort { GS_SORT_USED, GS_SORT_WAITED, GS_SORT_TURNS, GS_SORT_PID, GS_SORTS };
const char *gs_top_layout_sort_name(enum gs_top_sort sort);

struct gs_top {
	/* each GPU's figures and those of its TSGs, as in the JSON of `gpusched status` */
	const json_t *gpus;
	const json_t *findings; /* as in the JSON of `gpusched status`; NULL: not read yet */
	const json_t *before;   /* rows of the previous screen; NULL: this is the first */
	const char *policy;     /* NULL: none */
	const char *clock;
	const struct gs_strip *strip; /* turns of the last second; NULL: not known */
	enum gs_top_sort sort;
	bool by_process; /* one row per process instead of per TSG */
	bool wide;       /* all columns; else at most 100 characters */
	char filter[32]; /* if not "", shows only rows with this text in pid, comm or class */
	size_t chosen;   /* row under the cursor */
	bool has_cursor; /* false: the grid is printed to a file */
	bool help;       /* shows help on the keys in place of the rows */
	char line[160];  /* last line of the screen: a question or an answer; "": shows the keys */
};

/*
 * Makes the rows, sorted and filtered: objects like a TSG's in @gpus, plus "gpu". A row keeps the
 * figure by which it was last sorted until the figure changes clearly. So rows with similar figures
 * keep their places. The caller owns the reference.
 */
json_t *gs_top_layout_rows(const struct gs_top *t);
/* The number of lines that the whole screen needs where it has @cols columns. */
unsigned int gs_top_layout_height(const struct gs_top *t, const json_t *rows, unsigned int cols);
void gs_top_layout_draw(const struct gs_top *t, const json_t *rows, struct gs_grid *g);

#endif /* GPUSCHED_TOP_LAYOUT_H */
