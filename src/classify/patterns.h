/* SPDX-License-Identifier: MIT */
/*
 * patterns.h - brings the patterns of rules into the form that real names have
 *
 * Pure. A pattern that no name can match is a mistake that nobody would see.
 */
#ifndef GPUSCHED_CLASSIFY_PATTERNS_H
#define GPUSCHED_CLASSIFY_PATTERNS_H

#include <stdbool.h>

#include "basic/error.h"

enum gs_pattern_of {
	GS_PATTERN_ANY, /* any text matches some argument */
	GS_PATTERN_COMM,
	GS_PATTERN_EXE,
	GS_PATTERN_CGROUP,
	GS_PATTERN_NAME, /* of a namespace, pod or container */
};

#define GS_PATTERN_COMM_LEN 16 /* of a program's name as the kernel keeps it */

/* The room for a pattern of @n characters. */
#define GS_PATTERN_ROOM(n) ((n) + (n) / 4 + 2)
/*
 * Changes @pattern in place; it has that room. A comm is cut to the 15 characters that the kernel
 * keeps. A cgroup's path begins with "/" below its mount, has none at its end, and "\x2d" in it is
 * taken as written. Returns -EINVAL with the reason if nothing can match.
 */
int gs_pattern_form(enum gs_pattern_of what, char *pattern, struct gs_error *err);
/* True if the comm= of a rule's text is cut; @ret: to what. */
bool gs_pattern_is_cut(const char *rule, char ret[GS_PATTERN_COMM_LEN]);
/* True if the pattern is @text itself, or matches it as in glob(7). Nothing matches "". */
bool gs_pattern_matches(const char *pattern, const char *text);

#endif /* GPUSCHED_CLASSIFY_PATTERNS_H */
