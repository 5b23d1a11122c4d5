/* SPDX-License-Identifier: MIT */
/*
 * grid.h - draws a screen in memory: cells with a style
 */
#ifndef GPUSCHED_TOP_GRID_H
#define GPUSCHED_TOP_GRID_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <wchar.h>

enum gs_style {
	GS_STYLE_PLAIN,
	GS_STYLE_HEAD,   /* headings */
	GS_STYLE_CHOSEN, /* the row under the cursor */
	GS_STYLE_LC,
	GS_STYLE_BE,
	GS_STYLE_OTHER, /* for other classes */
	GS_STYLE_WARN,  /* waits, switching */
	GS_STYLE_BAD,   /* paused */
	GS_STYLES
};

struct gs_cell {
	wchar_t ch; /* 0: the second half of a wide character, which is in the cell before */
	enum gs_style style;
};

struct gs_grid {
	unsigned int rows, cols;
	struct gs_cell *cells; /* @rows * @cols cells, row by row */
};

/* Makes a blank grid. -ENOMEM. */
int gs_grid_new(unsigned int rows, unsigned int cols, struct gs_grid *ret);
void gs_grid_free(struct gs_grid *g);
/* Writes text, cut at the edge. A character of no column, or of control, becomes '?'. */
void gs_grid_put(struct gs_grid *g, unsigned int row, unsigned int col, enum gs_style style,
		 const char *format, ...) __attribute__((format(printf, 5, 6)));
void gs_grid_fill(struct gs_grid *g, unsigned int row, unsigned int col, unsigned int n, char ch,
		  enum gs_style style);
/* Gives all cells of a row this style. */
void gs_grid_mark(struct gs_grid *g, unsigned int row, enum gs_style style);
/* Prints the grid without styles, and without blanks at the end of a line. */
void gs_grid_print(const struct gs_grid *g, FILE *out);

#endif /* GPUSCHED_TOP_GRID_H */
