/* SPDX-License-Identifier: MIT */
/* say.h - how the program gpusched says what went wrong */
#ifndef GPUSCHED_BASIC_SAY_H
#define GPUSCHED_BASIC_SAY_H

#include <stddef.h>
#include <stdio.h>

/*
 * Prints @text, broken at blanks before column @width (0: never), and ends the line. The cursor is at
 * @column, and other lines begin there too.
 */
void gs_wrap(FILE *out, const char *text, size_t column, size_t width);
/* A line on stderr: "gpusched: ...", escaped; on a terminal wrapped, the name in red. */
void gs_error_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif /* GPUSCHED_BASIC_SAY_H */
