/* SPDX-License-Identifier: MIT */
/*
 * scenario_rows.h - the rows of a scenario file: scenarios that differ from each other in little
 *
 * A line [row NAME] begins a row. All rows have the lines before the first row.
 */
#ifndef GPUSCHED_SIM_SCENARIO_ROWS_H
#define GPUSCHED_SIM_SCENARIO_ROWS_H

#include <stddef.h>

#include "basic/error.h"
#include "sim/scenario.h"

struct sim_rows {
	char (*names)[SIM_NAME_LEN]; /* in the file's order */
	size_t n;                    /* 0: the file is one scenario */
};

/*
 * Reads the names of a file's rows. -EINVAL: a bad name, or one that is there twice. After an error
 * @ret is empty; else the caller frees it.
 */
int sim_rows_read(const char *path, struct sim_rows *ret, struct gs_error *err);
void sim_rows_free(struct sim_rows *rows);
/*
 * Blanks all rows of @text but @row, so that each line keeps its number. NULL: the file has to be
 * one scenario. -EINVAL: as sim_rows_read(), or there is no such row.
 */
int sim_rows_choose(char *text, const char *path, const char *row, struct gs_error *err);

#endif /* GPUSCHED_SIM_SCENARIO_ROWS_H */
