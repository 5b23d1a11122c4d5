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
/* The columns that @text takes on a terminal: a wide character takes two. */
size_t gs_term_columns(const char *text);
/* Copies @text, cut in the middle by "..." to @most columns; malloc'd. NULL: out of memory. */
char *gs_term_shorten(const char *text, size_t most);
/*
 * Prints @text and ends the line. Breaks it at blanks before column @width (0: never), and a longer
 * word after a slash. The cursor is at @column; further lines begin there too.
 */
void gs_term_wrap(FILE *out, const char *text, size_t column, size_t width);

#endif /* GPUSCHED_BASIC_TERM_H */
