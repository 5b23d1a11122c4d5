/* SPDX-License-Identifier: MIT */
/*
 * escape.h - texts that somebody else chose, on their way to a terminal or a log
 *
 * Names of processes, paths and arguments may hold anything. Characters that move the cursor, begin
 * a line or turn the direction of writing become \xNN or \uNNNN; so do bytes that are not UTF-8.
 * Only printing does this: JSON, the table and comparisons have the text as it is.
 */
#ifndef GPUSCHED_BASIC_ESCAPE_H
#define GPUSCHED_BASIC_ESCAPE_H

#include <stddef.h>

/* As much as @size (at least 1) holds; neither an escape nor a character is cut. Returns @buf. */
char *gs_escape(char *buf, size_t size, const char *text);
/* All of it, malloc'd; NULL: out of memory. */
char *gs_escaped(const char *text);

#endif /* GPUSCHED_BASIC_ESCAPE_H */
