/* SPDX-License-Identifier: MIT */
/*
 * escape.h - escapes texts that users chose, before they go to a terminal or a log
 *
 * Names of processes, paths and arguments may hold anything. Characters that move the cursor, begin
 * a line or turn the direction of writing become \xNN or \uNNNN. Bytes that are not UTF-8 do so
 * too. Only printing does this: JSON, the table and comparisons use the unchanged text.
 */
#ifndef GPUSCHED_BASIC_ESCAPE_H
#define GPUSCHED_BASIC_ESCAPE_H

#include <stddef.h>

/*
 * Writes as much as fits into @size (at least 1) bytes, without cutting an escape or a character.
 * Returns @buf.
 */
char *gs_escape(char *buf, size_t size, const char *text);
/*
 * Makes @text valid UTF-8, in place. A character that is cut at the end, as in a comm of 15 bytes,
 * is left out; other bytes that are not UTF-8 become '?'.
 */
void gs_escape_mend(char *text);
/* Escapes the whole text; malloc'd; NULL: out of memory. */
char *gs_escaped(const char *text);

#endif /* GPUSCHED_BASIC_ESCAPE_H */
