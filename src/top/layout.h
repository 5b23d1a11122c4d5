/* SPDX-License-Identifier: MIT */
/*
 * layout.h - draws the screen of `gpusched top`
 *
 * Pure: makes a grid from figures and the user's choices. Unknown figures are "-".
 */
#ifndef GPUSCHED_TOP_LAYOUT_H
#define GPUSCHED_TOP_LAYOUT_H

#include <jansson.h>

#include "top/grid.h"
#include "top/strip.h"

enum gs_top_sort { GS_SORT_HELD, GS_SORT_WAITED, GS_SORT_TURNS, GS_SORT_PID, GS_SORTS };
const char *gs_top_sort_name(enum gs_top_sort sort);

struct gs_top {
	const json_t *gpus;     /* as `status` has them: figures of each GPU, and of its TSGs */
	const json_t *findings; /* as `status` has them; NULL: not asked for yet */
	const json_t *before;   /* rows of the last screen; NULL: this is the first */
	const char *policy;     /* NULL: none */
	const char *clock;
	const struct gs_strip *strip; /* NULL: no turns are known */
	enum gs_top_sort sort;
	bool by_process; /* one row per process instead of per TSG */
	char filter[32]; /* shows only rows with this text in pid, comm or class */
	size_t chosen;   /* row under the cursor */
	bool has_cursor; /* false: the grid is for a file */
	bool help;       /* a help on the keys takes the place of the rows */
	char line[160];  /* the last line: a question or an answer; "": the keys */
};

/*
 * The rows, sorted and filtered: objects like a TSG's in @gpus, with "gpu". A row is sorted by its
 * figure of the last screen, unless the figure has changed clearly. So rows with similar figures
 * keep their places. The caller owns the reference.
 */
json_t *gs_top_rows(const struct gs_top *t);
/* True if a screen of @cols columns has room for "user", "cgroup" and "command". */
bool gs_top_has_identity(unsigned int cols);
/* How many lines the whole screen needs. */
unsigned int gs_top_height(const struct gs_top *t, const json_t *rows);
void gs_top_draw(const struct gs_top *t, const json_t *rows, struct gs_grid *g);

#endif /* GPUSCHED_TOP_LAYOUT_H */
