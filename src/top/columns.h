/* SPDX-License-Identifier: MIT */
/* columns.h - draws the table of `gpusched top`: as many columns as fit, NAME in what is left */
#ifndef GPUSCHED_TOP_COLUMNS_H
#define GPUSCHED_TOP_COLUMNS_H

#include <jansson.h>
#include <stdbool.h>

#include "top/grid.h"

struct gs_columns {
	bool wide;       /* all columns, as wide as the screen; else at most 100 characters */
	bool by_process; /* rows are processes, and not TSGs */
	bool samples;    /* the driver's samples tell used time from idle time */
	/* columns that are shown, by their places in the file's table, with first cells and widths */
	size_t n;
	unsigned char shown[16];
	unsigned int at[16], width[16];
	char left_out[100]; /* headings of columns for which there is no room, with commas */
};

/* Chooses the columns for these rows. @cols: width of the screen. */
void gs_columns_choose(struct gs_columns *t, const json_t *rows, unsigned int cols);
void gs_columns_head(const struct gs_columns *t, struct gs_grid *g, unsigned int row);
void gs_columns_row(const struct gs_columns *t, const json_t *row, struct gs_grid *g,
		    unsigned int at);
/* The style for a class's text. */
enum gs_style gs_columns_style(const char *class);

#endif /* GPUSCHED_TOP_COLUMNS_H */
