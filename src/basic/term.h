/* SPDX-License-Identifier: MIT */
/* term.h - finds a terminal's abilities, and wraps text to its width */
#ifndef GPUSCHED_BASIC_TERM_H
#define GPUSCHED_BASIC_TERM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* True if @out is a terminal, and NO_COLOR is not set. */
bool gs_term_colour(FILE *out);
/* The width of the terminal @out in columns; 0: it is no terminal. */
size_t gs_term_width(FILE *out);
/*
 * Prints @text and ends the line. Breaks it at blanks before column @width (0: never), and a longer
 * word after a slash. The cursor is at @column; further lines begin there too.
 */
void gs_wrap(FILE *out, const char *text, size_t column, size_t width);

#endif /* GPUSCHED_BASIC_TERM_H */
