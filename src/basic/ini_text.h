/* SPDX-License-Identifier: MIT */
/* ini_text.h - has libinih read long lines, indented keys, and comments behind values */
#ifndef GPUSCHED_BASIC_INI_TEXT_H
#define GPUSCHED_BASIC_INI_TEXT_H

#include <ini.h>

#include "basic/error.h"

#define GS_INI_LINE 4096 /* bytes of the longest line, with its end */

/* Sets the library's options, which all of its callers share. To be called before it parses. */
void gs_ini_prepare(void);
/*
 * Does as ini_parse_string(), with these options. The library would take the rest of a line that is
 * too long for another line: this is a mistake in that line, with a message.
 */
int gs_ini_parse_text(const char *text, ini_handler fn, void *user, struct gs_error *err);

#endif /* GPUSCHED_BASIC_INI_TEXT_H */
