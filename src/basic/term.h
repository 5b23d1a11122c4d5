/* SPDX-License-Identifier: MIT */
/* term.h - what a terminal can do, and text that fits it */
#ifndef GPUSCHED_BASIC_TERM_H
#define GPUSCHED_BASIC_TERM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* @out is a terminal, and NO_COLOR is not set. */
bool gs_term_colour(FILE *out);
/* Columns of the terminal that @out is; 0: it is none. */
size_t gs_term_width(FILE *out);
/*
 * Prints @text, broken at blanks before column @width (0: never), and ends the line. The cursor is at
 * @column, and other lines begin there too.
 */
void gs_wrap(FILE *out, const char *text, size_t column, size_t width);

#endif /* GPUSCHED_BASIC_TERM_H */
